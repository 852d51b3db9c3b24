/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of waiting polls against those who wake them: threads and processes notify while polls go to sleep and wake. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "apr_time.h"

#include "unit.h"
#include "waiters_fixture.h"

#define ROUNDS 100000
#define ROUNDS_ACROSS 20000
#define HANG_UPS 5000
#define CROWD 12
#define CROWD_ROUNDS 3000

#define LOAD(place) __atomic_load_n(&(place), __ATOMIC_SEQ_CST)
#define STORE(place, value) __atomic_store_n(&(place), (value), __ATOMIC_SEQ_CST)

/* In the segment, so that processes can race too. */
typedef struct race_t {
    hall_t *h;
    apr_uint64_t data;   /* atomic; what is announced */
    apr_uint64_t rounds; /* const */
    int done;            /* atomic */
} race_t;

typedef struct sleeper_t {
    race_t *race;
    apr_uint64_t seen; /* atomic; of the data */
    apr_uint64_t sleeps, idle;
    unsigned causes; /* all that it was woken for */
    int quiet[2];    /* a client that does nothing: with it, only a signal ends a sleep */
    int late;        /* atomic; it was woken by its deadline: a notify was lost */
    pthread_t thread;
} sleeper_t;

/* The loop of a poll: attach, arm, compare, finish, sleep, detach. The deadline is there to notice what was lost. */
static void *sleep_and_look(void *baton)
{
    sleeper_t *me = baton;
    hall_t *h = me->race->h;
    apr_uint64_t stamp = vault_interest_stamp(h->f.notifier, h->interest[0]);
    vault_waiter_t waiter;
    vault_wait_t wait;

    memset(&waiter, 0, sizeof(waiter));
    STORE(me->late, vault_waiter_open(h->w, &waiter) != APR_SUCCESS || socketpair(AF_UNIX, SOCK_STREAM, 0, me->quiet));
    STORE(me->seen, LOAD(me->race->data));
    while (LOAD(me->seen) < me->race->rounds && !me->late) {
        apr_uint64_t now;
        unsigned causes;

        wait.interest = h->interest[0];
        waiter.due = waiter.end = vault_now() + apr_time_from_sec(20);
        if (!vault_waiter_attach(h->w, &waiter, &wait, 1)) {
            break;
        }
        now = vault_interest_arm(h->f.notifier, h->interest[0], h->slot);
        if (now > stamp) {
            vault_waiter_detach(h->w, &waiter);
            stamp = now; /* read before the data */
            STORE(me->seen, LOAD(me->race->data));
            continue;
        }
        me->sleeps++;
        vault_waiter_finish(h->w, &waiter);
        vault_waiter_sleep(&waiter, me->quiet[0], 1);
        causes = vault_waiter_detach(h->w, &waiter);
        me->causes |= causes;
        me->idle += causes == 0;
        if (causes & VAULT_CAUSE_END) {
            STORE(me->late, 1);
        }
    }
    vault_waiter_close(h->w, &waiter);
    close(me->quiet[0]);
    close(me->quiet[1]);
    return NULL;
}

static race_t *race_begin(hall_t *h, unsigned window, apr_uint64_t rounds)
{
    race_t *race;

    hall_begin(h, window);
    race = fixture_shared(&h->f, sizeof(*race));
    race->h = h;
    race->rounds = rounds;
    return race;
}

static int all_saw(sleeper_t *sleepers, unsigned count, apr_uint64_t round)
{
    unsigned i;

    for (i = 0; i < count; i++) {
        if (LOAD(sleepers[i].seen) < round && !LOAD(sleepers[i].late)) {
            return 0;
        }
    }
    return 1;
}

/* One notify a round, the next one when all saw it: none that is lost is made up for by a later one. */
static void notify_each_once(race_t *race, sleeper_t *sleepers, unsigned count)
{
    apr_uint64_t round;

    for (round = 1; round <= race->rounds; round++) {
        STORE(race->data, round);
        vault_notifier_notify(race->h->f.notifier, "a", 0);
        while (!all_saw(sleepers, count, round)) {
            sched_yield();
        }
    }
}

static void start(race_t *race, sleeper_t *sleepers, unsigned count)
{
    unsigned i;

    memset(sleepers, 0, count * sizeof(*sleepers));
    for (i = 0; i < count; i++) {
        sleepers[i].race = race;
        CU_ASSERT_FATAL(pthread_create(&sleepers[i].thread, NULL, sleep_and_look, &sleepers[i]) == 0);
    }
}

static apr_uint64_t join(sleeper_t *sleepers, unsigned count, apr_uint64_t rounds)
{
    apr_uint64_t sleeps = 0;
    unsigned i;

    for (i = 0; i < count; i++) {
        pthread_join(sleepers[i].thread, NULL);
        CU_ASSERT(!sleepers[i].late);
        CU_ASSERT_EQUAL(sleepers[i].seen, rounds);
        sleeps += sleepers[i].sleeps;
    }
    return sleeps;
}

static void no_notify_is_lost(void)
{
    hall_t h;
    race_t *race = race_begin(&h, 1, ROUNDS);
    sleeper_t sleeper;

    start(race, &sleeper, 1);
    notify_each_once(race, &sleeper, 1);
    CU_ASSERT(join(&sleeper, 1, ROUNDS) > 0);
    hall_end(&h);
}

/* More polls than may be woken at once: each gets its turn, also when it is woken while it goes back to sleep. */
static void no_turn_is_lost(void)
{
    hall_t h;
    race_t *race = race_begin(&h, 3, CROWD_ROUNDS);
    sleeper_t sleepers[CROWD];

    start(race, sleepers, CROWD);
    notify_each_once(race, sleepers, CROWD);
    CU_ASSERT(join(sleepers, CROWD, CROWD_ROUNDS) > 0);
    hall_end(&h);
}

/* ------------------------------------------------------------------- processes */

static void notify_from_outside(void *baton)
{
    race_t *race = baton;
    apr_uint64_t seen = 0;

    fixture_ready();
    while (seen < race->rounds) {
        seen = LOAD(race->data); /* the sleeper's process moves on when it has seen */
        vault_notifier_notify(race->h->f.notifier, "b", 0);
        while (LOAD(race->data) == seen && !LOAD(race->done)) {
            sched_yield();
        }
        seen++;
    }
    _exit(0);
}

/* Polls sleep in this process, and another process notifies: each time one is woken, the next may come. */
static void a_notify_in_another_process_wakes(void)
{
    hall_t h;
    race_t *race = race_begin(&h, 1, ROUNDS_ACROSS);
    pid_t pid = fixture_fork(notify_from_outside, race);
    vault_waiter_t waiter;
    vault_wait_t wait;
    apr_uint64_t round, stamp = 0;
    unsigned causes = 0;

    hall_enter(&h, &waiter);
    for (round = 1; round <= ROUNDS_ACROSS && !(causes & VAULT_CAUSE_END); round++) {
        apr_uint64_t now;

        do {
            wait.interest = h.interest[1];
            waiter.due = waiter.end = vault_now() + apr_time_from_sec(20);
            vault_waiter_attach(h.w, &waiter, &wait, 1);
            now = vault_interest_arm(h.f.notifier, h.interest[1], h.slot);
            if (now <= stamp) {
                vault_waiter_finish(h.w, &waiter);
                CU_ASSERT(hall_await_signal(&waiter));
            }
            causes |= vault_waiter_detach(h.w, &waiter);
        } while (now <= stamp && !(causes & VAULT_CAUSE_END));
        stamp = now;
        STORE(race->data, round);
    }
    STORE(race->done, 1);
    CU_ASSERT(!(causes & VAULT_CAUSE_END));
    CU_ASSERT_EQUAL(fixture_wait(pid), 0);
    vault_waiter_close(h.w, &waiter);
    hall_end(&h);
}

/* ------------------------------------------------------------ hang-up and stop */

static void *hang_up(void *baton)
{
    const int *fd = baton;

    close(*fd);
    return NULL;
}

static void *disturb(void *baton)
{
    race_t *race = baton;

    while (!LOAD(race->done)) {
        vault_notifier_notify(race->h->f.notifier, "a", 0);
        sched_yield();
    }
    return NULL;
}

/* The client hangs up while the poll is woken, detached and watched again all the time. */
static void no_hang_up_is_lost(void)
{
    hall_t h;
    race_t *race = race_begin(&h, 1, 0);
    vault_waiter_t waiter;
    vault_wait_t wait;
    pthread_t other, client;
    int round, lost = 0;

    hall_enter(&h, &waiter);
    CU_ASSERT_FATAL(pthread_create(&other, NULL, disturb, race) == 0);
    for (round = 0; round < HANG_UPS && !lost; round++) {
        int fds[2], gone = 0;
        char byte;

        CU_ASSERT_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
        CU_ASSERT_FATAL(pthread_create(&client, NULL, hang_up, &fds[1]) == 0);
        while (!gone && !lost) {
            wait.interest = h.interest[0];
            waiter.due = waiter.end = vault_now() + apr_time_from_sec(20);
            vault_waiter_attach(h.w, &waiter, &wait, 1);
            vault_interest_arm(h.f.notifier, h.interest[0], h.slot);
            vault_waiter_finish(h.w, &waiter);
            vault_waiters_watch(h.w, fds[0], &waiter, 1);
            vault_waiter_sleep(&waiter, -1, 1);
            vault_waiters_unwatch(h.w, fds[0]);
            lost = (vault_waiter_detach(h.w, &waiter) & VAULT_CAUSE_END) != 0;
            gone = recv(fds[0], &byte, 1, MSG_DONTWAIT) == 0;
        }
        pthread_join(client, NULL);
        close(fds[0]);
    }
    STORE(race->done, 1);
    pthread_join(other, NULL);
    CU_ASSERT_EQUAL(lost, 0);
    vault_waiter_close(h.w, &waiter);
    hall_end(&h);
}

static void a_stop_ends_all_waiting(void)
{
    int round;

    for (round = 0; round < 50; round++) {
        hall_t h;
        race_t *race = race_begin(&h, 2, APR_UINT64_MAX);
        sleeper_t sleepers[CROWD];
        unsigned i;

        start(race, sleepers, CROWD);
        while (vault_waiters_count(h.w) < (unsigned)round % CROWD) {
            sched_yield();
        }
        vault_waiters_stop(h.w);
        for (i = 0; i < CROWD; i++) {
            pthread_join(sleepers[i].thread, NULL);
            CU_ASSERT(!sleepers[i].late);
        }
        hall_end(&h);
    }
}

void vault_waiters_race_suite(void)
{
    CU_pSuite suite = CU_add_suite("waiters_race", NULL, NULL);

    CU_ADD_TEST(suite, no_notify_is_lost);
    CU_ADD_TEST(suite, no_turn_is_lost);
    CU_ADD_TEST(suite, a_notify_in_another_process_wakes);
    CU_ADD_TEST(suite, no_hang_up_is_lost);
    CU_ADD_TEST(suite, a_stop_ends_all_waiting);
}
