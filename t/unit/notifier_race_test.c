/* SPDX-License-Identifier: Apache-2.0 */
/* Races of the notifier: concurrent threads and processes, and processes killed in between. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apr_strings.h"
#include "apr_time.h"

#include "fixture.h"
#include "notify/notifier_tables.h"
#include "unit.h"

#define ROUNDS 100000
#define ROUNDS_ACROSS 10000
#define KILLS 80
#define SLOTS 6

/* Shared by the racers. In the segment, so that processes can race, too. */
typedef struct race_t {
    fixture_t *f;
    apr_uint64_t data;      /* atomic; stands for the content of a database */
    apr_uint64_t announced; /* atomic; the data that returned notifies have announced */
    apr_uint64_t seen;      /* atomic; the data that the sleeper has read */
    apr_uint64_t rounds;    /* const */
    apr_uint64_t sleeps;    /* sleeper: how often it found nothing and slept */
    vault_interest_t interest;
    unsigned slot;
    int recovery; /* const; the announcer notifies all instead of the interest */
    int failed;   /* atomic; what went wrong, 0: nothing */
    int done;     /* atomic */
} race_t;

#define LOAD(place) __atomic_load_n(&(place), __ATOMIC_SEQ_CST)
#define STORE(place, value) __atomic_store_n(&(place), (value), __ATOMIC_SEQ_CST)

static race_t *race_make(fixture_t *f, apr_uint64_t rounds)
{
    race_t *race;
    apr_uint64_t stamp;

    fixture_begin(f, 64, SLOTS, 0);
    race = fixture_shared(f, sizeof(*race));
    race->f = f;
    race->rounds = rounds;
    CU_ASSERT_FATAL(vault_slot_claim(f->notifier, getpid(), &race->slot) == APR_SUCCESS);
    CU_ASSERT_FATAL(vault_interest_hold(f->notifier, "race", &race->interest, &stamp) == APR_SUCCESS);
    return race;
}

/* ------------------------------------------------------- no wake-up is lost */

/* A random pause of up to about a microsecond, so that two threads meet at different instructions. */
static void jitter(unsigned *seed)
{
    volatile int spin;

    for (spin = rand_r(seed) % 256; spin > 0; spin--) {
    }
}

/* Sleeps until the interest is drained from the queue. @return 0: it was not */
static int sleep_until_told(race_t *race)
{
    vault_interest_t list[VAULT_SLOT_QUEUE];
    apr_time_t patience = apr_time_now() + apr_time_from_sec(60);
    unsigned count, i;

    race->sleeps++;
    while (fixture_rung(race->f, race->slot) && apr_time_now() < patience) {
        if (vault_slot_drain(race->f->notifier, race->slot, list, VAULT_SLOT_QUEUE, &count)) {
            return 1;
        }
        for (i = 0; i < count; i++) {
            if (list[i] == race->interest) {
                return 1;
            }
        }
    }
    return 0;
}

/* The loop of notifier.h that cannot miss: arm; if it has moved, read; otherwise sleep. */
static void *sleeper(void *baton)
{
    race_t *race = baton;
    apr_uint64_t stamp = vault_interest_stamp(race->f->notifier, race->interest);
    unsigned seed = 1;

    STORE(race->seen, LOAD(race->data));
    while (LOAD(race->seen) < race->rounds) {
        apr_uint64_t now;

        jitter(&seed);
        now = vault_interest_arm(race->f->notifier, race->interest, race->slot);

        if (now > stamp) {
            stamp = now; /* read before the data */
            STORE(race->seen, LOAD(race->data));
        }
        else if (!sleep_until_told(race)) {
            STORE(race->failed, 1);
            break;
        }
    }
    STORE(race->done, 1);
    return NULL;
}

/* One notify in each round, and the next one only when it was seen, so that a later one cannot make up for a
 * lost one. */
static void notify_each_once(race_t *race)
{
    apr_uint64_t round;
    unsigned seed = 2, spins;

    for (round = 1; round <= race->rounds && !LOAD(race->failed); round++) {
        jitter(&seed);
        STORE(race->data, round);
        if (race->recovery) {
            vault_notifier_all(race->f->notifier, 0);
        }
        else {
            CU_ASSERT_EQUAL(vault_notifier_notify(race->f->notifier, "race", 0), APR_SUCCESS);
        }
        for (spins = 0; LOAD(race->seen) < round && !LOAD(race->failed); spins++) {
            if (spins % 128 == 127) {
                sched_yield();
            }
        }
    }
}

/* Other users of the same tables, stripes and queue: they may wake the sleeper's thread, but never its
 * interest. */
static void *strangers(void *baton)
{
    race_t *race = baton;
    vault_interest_t a, b;
    apr_uint64_t stamp;
    char name[16];
    unsigned i;

    for (i = 0; !LOAD(race->done); i++) {
        apr_snprintf(name, sizeof(name), "other-%u", i % 40);
        if (vault_interest_hold(race->f->notifier, name, &a, &stamp) != APR_SUCCESS ||
            vault_interest_hold(race->f->notifier, "race", &b, &stamp) != APR_SUCCESS || b != race->interest) {
            STORE(race->failed, 2);
            break;
        }
        vault_interest_arm(race->f->notifier, a, race->slot);
        vault_notifier_notify(race->f->notifier, name, 0);
        vault_interest_release(race->f->notifier, a);
        vault_interest_release(race->f->notifier, b);
        if (i % 16 == 0) {
            sched_yield();
        }
    }
    return NULL;
}

static void one_sleeps(int recovery)
{
    fixture_t f;
    race_t *race = race_make(&f, ROUNDS);
    pthread_t thread;

    race->recovery = recovery;
    CU_ASSERT_FATAL(pthread_create(&thread, NULL, sleeper, race) == 0);
    notify_each_once(race);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(race->failed, 0);
    CU_ASSERT_EQUAL(race->seen, ROUNDS);
    CU_ASSERT(race->sleeps > 0);
    CHECK_SOUND(vault_notifier_check(f.notifier));
    fixture_end(&f);
}

static void no_wake_up_is_lost(void)
{
    one_sleeps(0);
}

/* Here no stripe's lock orders the two sides, only the fences around the floor. */
static void no_recovery_is_lost(void)
{
    one_sleeps(1);
}

static void no_wake_up_is_lost_among_strangers(void)
{
    fixture_t f;
    race_t *race = race_make(&f, ROUNDS / 10);
    pthread_t threads[2];

    CU_ASSERT_FATAL(pthread_create(&threads[0], NULL, sleeper, race) == 0);
    CU_ASSERT_FATAL(pthread_create(&threads[1], NULL, strangers, race) == 0);
    notify_each_once(race);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    CU_ASSERT_EQUAL(race->failed, 0);
    CU_ASSERT_EQUAL(race->seen, ROUNDS / 10);
    CU_ASSERT_EQUAL(vault_interest_count(f.notifier), 1);
    CHECK_SOUND(vault_notifier_check(f.notifier));
    fixture_end(&f);
}

static void sleep_in_a_process(void *baton)
{
    fixture_ready();
    sleeper(baton);
    _exit(0);
}

static void no_wake_up_is_lost_between_processes(void)
{
    fixture_t f;
    race_t *race = race_make(&f, ROUNDS_ACROSS);
    pid_t pid = fixture_fork(sleep_in_a_process, race);

    notify_each_once(race);
    CU_ASSERT_EQUAL(fixture_wait(pid), 0);
    CU_ASSERT_EQUAL(race->failed, 0);
    CU_ASSERT_EQUAL(race->seen, ROUNDS_ACROSS);
    fixture_end(&f);
}

/* --------------------------------------------------- nothing falls in a gap */

static void *announce_for_ever(void *baton)
{
    race_t *race = baton;
    apr_uint64_t round;

    for (round = 1; !LOAD(race->done); round++) {
        STORE(race->data, round);
        vault_notifier_notify(race->f->notifier, "gap", 0);
        STORE(race->announced, round);
    }
    return NULL;
}

/* The interest is released and held again, so most notifies find no holder. Every change announced before a
 * comparison of stamps is either in the data read between hold and comparison, or the comparison says that the
 * stamp has moved. (The lemma of the protocol.) */
static void nothing_is_lost_while_an_interest_comes_and_goes(void)
{
    fixture_t f;
    race_t *race = race_make(&f, 0);
    apr_uint64_t last = 0, quiet = 0;
    pthread_t announcer;
    int i, lost = 0, back = 0;

    CU_ASSERT_FATAL(pthread_create(&announcer, NULL, announce_for_ever, race) == 0);
    for (i = 0; i < ROUNDS; i++) {
        vault_interest_t interest;
        apr_uint64_t held, data, announced, armed;

        CU_ASSERT_FATAL(vault_interest_hold(f.notifier, "gap", &interest, &held) == APR_SUCCESS);
        data = LOAD(race->data);
        announced = LOAD(race->announced);
        armed = vault_interest_arm(f.notifier, interest, race->slot);
        lost += data < announced && armed <= held;
        quiet += armed == held;
        back += held <= last || armed < held; /* I1: each time it is made anew, above all numbers before */
        last = armed;
        vault_interest_release(f.notifier, interest);
    }
    STORE(race->done, 1);
    pthread_join(announcer, NULL);
    CU_ASSERT_EQUAL(lost, 0);
    CU_ASSERT_EQUAL(back, 0);
    CU_ASSERT(quiet > 0);
    CU_ASSERT_EQUAL(vault_interest_count(f.notifier), 1);
    CHECK_SOUND(vault_notifier_check(f.notifier));
    fixture_end(&f);
}

typedef struct worker_t {
    race_t *race;
    unsigned seed;
} worker_t;

/* All operations on a few names, in a table that is often full. */
static void work(race_t *race, unsigned *seed)
{
    vault_notifier_t *n = race->f->notifier;
    vault_interest_t interest[4];
    apr_uint64_t stamp;
    char name[16];
    unsigned i, held = 0;

    for (i = 0; i < 4; i++) {
        apr_snprintf(name, sizeof(name), "work-%d", rand_r(seed) % 100);
        held += vault_interest_hold(n, name, &interest[held], &stamp) == APR_SUCCESS;
        vault_notifier_notify(n, name, 0);
    }
    for (i = 0; i < held; i++) {
        vault_interest_arm(n, interest[i], 1 + (unsigned)rand_r(seed) % SLOTS);
        vault_notifier_notify_interest(n, interest[i], 0);
        vault_interest_name(n, interest[i], name, sizeof(name));
        if (vault_interest_stamp(n, interest[i]) <= 1 || strncmp(name, "work-", 5)) {
            STORE(race->failed, 1);
        }
        vault_interest_release(n, interest[i]);
        vault_interest_arm(n, interest[i], 1); /* stale by now, possibly another interest */
    }
}

static void *work_in_a_thread(void *baton)
{
    worker_t *worker = baton;
    int i;

    for (i = 0; i < ROUNDS / 4; i++) {
        work(worker->race, &worker->seed);
    }
    return NULL;
}

static void tables_stay_sound_under_all_calls_at_once(void)
{
    fixture_t f;
    race_t *race = race_make(&f, 0);
    worker_t workers[3] = {{race, 1}, {race, 2}, {race, 3}};
    pthread_t threads[3];
    int i;

    for (i = 0; i < 3; i++) {
        CU_ASSERT_FATAL(pthread_create(&threads[i], NULL, work_in_a_thread, &workers[i]) == 0);
    }
    for (i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    CU_ASSERT_EQUAL(race->failed, 0);
    CU_ASSERT_EQUAL(vault_interest_count(f.notifier), 1);
    CHECK_SOUND(vault_notifier_check(f.notifier));
    fixture_end(&f);
}

/* ------------------------------------------------------------------- deaths */

static void acquire_stripe(void *baton)
{
    race_t *race = baton;
    vault_record_t *record = vault_record_at(race->f->notifier, race->interest);

    vault_lock_acquire(&vault_stripe_of(race->f->notifier, record->hash)->lock);
}

/* Like a release that was killed after its first store. */
static void begin_removal(void *baton)
{
    race_t *race = baton;

    acquire_stripe(baton);
    vault_record_at(race->f->notifier, race->interest)->holders = 0;
}

/* Like a notify that was killed when it had taken the bits and before it notified any slot. */
static void take_the_mask(void *baton)
{
    race_t *race = baton;

    acquire_stripe(baton);
    vault_record_at(race->f->notifier, race->interest)->mask[0] = 0;
}

/* Like corrupted memory together with a death. */
static void tie_a_knot(void *baton)
{
    race_t *race = baton;
    vault_record_t *record = vault_record_at(race->f->notifier, race->interest);

    acquire_stripe(baton);
    record->next = race->interest;
}

static void expect_all_told(race_t *race, apr_uint64_t recorded)
{
    vault_interest_t list[VAULT_SLOT_QUEUE];
    unsigned count;

    CU_ASSERT(fixture_rung(race->f, race->slot));
    CU_ASSERT_EQUAL(vault_slot_drain(race->f->notifier, race->slot, list, VAULT_SLOT_QUEUE, &count), 1);
    CU_ASSERT(vault_interest_stamp(race->f->notifier, race->interest) > recorded);
    CU_ASSERT(vault_clock_floor(race->f->notifier->clock) > recorded);
    CHECK_SOUND(vault_notifier_check(race->f->notifier));
}

/* Every operation that acquires a stripe must notify all if it finds a dead owner. */
static void a_death_in_a_stripe_tells_all(void)
{
    fixture_t f;
    race_t *race = race_make(&f, 0);
    vault_notifier_t *n = f.notifier;
    vault_interest_t interest;
    apr_uint64_t recorded = 0, stamp;
    char name[16];
    int call;

    for (call = 0; call < 7; call++) {
        recorded = vault_interest_arm(n, race->interest, race->slot);
        fixture_kill(fixture_fork(call % 2 ? take_the_mask : acquire_stripe, race));
        switch (call) {
        case 0:
            CU_ASSERT_EQUAL(vault_notifier_notify(n, "race", 0), APR_SUCCESS);
            break;
        case 1:
            vault_notifier_notify_interest(n, race->interest, 0);
            break;
        case 2:
            CU_ASSERT_EQUAL(vault_interest_hold(n, "race", &interest, &stamp), APR_SUCCESS);
            CU_ASSERT_EQUAL(interest, race->interest);
            break;
        case 3:
            vault_interest_release(n, race->interest);
            break;
        case 4:
            CU_ASSERT(vault_interest_arm(n, race->interest, race->slot) > recorded);
            break;
        case 5:
            vault_interest_name(n, race->interest, name, sizeof(name));
            CU_ASSERT_STRING_EQUAL(name, "race");
            break;
        default:
            CHECK_SOUND(vault_notifier_check(n));
        }
        expect_all_told(race, recorded);
    }
    CU_ASSERT_EQUAL(vault_interest_count(n), 1);
    fixture_end(&f);
}

static void a_removal_that_was_cut_short_is_finished(void)
{
    fixture_t f;
    race_t *race = race_make(&f, 0);
    vault_interest_t again;
    apr_uint64_t recorded = vault_interest_stamp(f.notifier, race->interest), stamp;

    fixture_kill(fixture_fork(begin_removal, race));
    CU_ASSERT_EQUAL(vault_notifier_notify(f.notifier, "race", 0), APR_NOTFOUND);
    expect_all_told(race, recorded);
    CU_ASSERT_EQUAL(vault_interest_count(f.notifier), 0);
    CU_ASSERT_EQUAL(vault_interest_hold(f.notifier, "race", &again, &stamp), APR_SUCCESS);
    CU_ASSERT_EQUAL(again, race->interest); /* it came back from the free list */
    CU_ASSERT(stamp > recorded);
    fixture_end(&f);
}

static void a_knot_in_a_chain_is_cut(void)
{
    fixture_t f;
    race_t *race = race_make(&f, 0);

    fixture_kill(fixture_fork(tie_a_knot, race));
    vault_notifier_notify(f.notifier, "race", 0);
    CU_ASSERT(fixture_rung(&f, race->slot));
    CU_ASSERT_EQUAL(vault_notifier_notify(f.notifier, "race", 0), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_interest_count(f.notifier), 1);
    CHECK_SOUND(vault_notifier_check(f.notifier));
    fixture_end(&f);
}

static void work_for_ever(void *baton)
{
    race_t *race = baton;
    unsigned seed = (unsigned)getpid();

    fixture_ready();
    for (;;) {
        work(race, &seed);
        __atomic_add_fetch(&race->data, 1, __ATOMIC_SEQ_CST);
    }
}

/* Releases the holds of the killed processes. In httpd the pages do that, which outlive their process. */
static void release_for_the_dead(race_t *race)
{
    vault_notifier_t *n = race->f->notifier;
    vault_interest_t i;
    char name[16];

    for (i = 1; i <= vault_notifier_interests(n); i++) {
        for (vault_interest_name(n, i, name, sizeof(name)); !strncmp(name, "work-", 5);
             vault_interest_name(n, i, name, sizeof(name))) {
            vault_interest_release(n, i);
        }
    }
}

/* Kills two processes at a time at random points; meanwhile and afterwards others continue. */
static void processes_killed_anywhere_stop_nobody(void)
{
    fixture_t f;
    race_t *race = race_make(&f, 0);
    unsigned seed = 7;
    int i;

    for (i = 0; i < KILLS; i++) {
        pid_t one, two;
        unsigned slot;

        STORE(race->data, 0);
        one = fixture_fork(work_for_ever, race);
        two = fixture_fork(work_for_ever, race);
        CU_ASSERT_EQUAL(vault_slot_claim(f.notifier, one, &slot), APR_SUCCESS);
        while (LOAD(race->data) < 20 + (unsigned)i) {
            work(race, &seed);
        }
        fixture_kill(one);
        CU_ASSERT_EQUAL(vault_slot_exited(f.notifier, one, &slot), 1);
        fixture_kill(two);
        CHECK_SOUND(vault_notifier_check(f.notifier));
        CU_ASSERT(fixture_rung(&f, race->slot));
        release_for_the_dead(race);
        CU_ASSERT_EQUAL(vault_interest_count(f.notifier), 1);
    }
    CU_ASSERT_EQUAL(race->failed, 0);
    CU_ASSERT_EQUAL(vault_notifier_notify(f.notifier, "race", 0), APR_SUCCESS);
    fixture_end(&f);
}

void vault_notifier_race_suite(void)
{
    CU_pSuite suite = CU_add_suite("notifier_race", NULL, NULL);

    CU_ADD_TEST(suite, no_wake_up_is_lost);
    CU_ADD_TEST(suite, no_recovery_is_lost);
    CU_ADD_TEST(suite, no_wake_up_is_lost_among_strangers);
    CU_ADD_TEST(suite, no_wake_up_is_lost_between_processes);
    CU_ADD_TEST(suite, nothing_is_lost_while_an_interest_comes_and_goes);
    CU_ADD_TEST(suite, tables_stay_sound_under_all_calls_at_once);
    CU_ADD_TEST(suite, a_death_in_a_stripe_tells_all);
    CU_ADD_TEST(suite, a_removal_that_was_cut_short_is_finished);
    CU_ADD_TEST(suite, a_knot_in_a_chain_is_cut);
    CU_ADD_TEST(suite, processes_killed_anywhere_stop_nobody);
}
