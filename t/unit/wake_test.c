/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a poll that is woken by its name: resume, complete, a shorter time, and all of these against each other. */
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/now.h"
#include "unit.h"
#include "waiters_fixture.h"

#define ROUNDS 100000
#define ROUNDS_OF_HANG_UPS 10000

#define LOAD(place) __atomic_load_n(&(place), __ATOMIC_SEQ_CST)
#define STORE(place, value) __atomic_store_n(&(place), (value), __ATOMIC_SEQ_CST)

static void sit_until(hall_t *h, vault_waiter_t *waiter, apr_time_t end)
{
    waiter->due = waiter->end = end;
    CU_ASSERT_EQUAL(vault_waiter_attach(h->w, waiter, NULL, 0), 1);
}

static void the_first_call_by_name_holds(void)
{
    static const struct {
        unsigned first, second, holds;
        const char *why;
    } rows[] = {
        {VAULT_CAUSE_RESUME, VAULT_CAUSE_RESUME, VAULT_CAUSE_RESUME, "more resumes do nothing"},
        {VAULT_CAUSE_RESUME, VAULT_CAUSE_COMPLETE, VAULT_CAUSE_RESUME,
         "who was told that it runs again can rely on it"},
        {VAULT_CAUSE_COMPLETE, VAULT_CAUSE_RESUME, VAULT_CAUSE_COMPLETE,
         "who was told that it does not run again, too"},
        {VAULT_CAUSE_COMPLETE, VAULT_CAUSE_COMPLETE, VAULT_CAUSE_COMPLETE, "once is enough"},
    };
    hall_t h;
    vault_waiter_t waiter;
    size_t i;

    hall_begin(&h, 1);
    hall_enter(&h, &waiter);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CU_ASSERT_EQUAL(vault_waiter_wake(h.w, &waiter, rows[i].first), 0); /* it does not wait */
        sit_until(&h, &waiter, FAR_OFF);
        CU_ASSERT_EQUAL(hall_take(&h, &waiter), 0);
        CU_ASSERT_EQUAL(vault_waiter_wake(h.w, &waiter, rows[i].first), rows[i].holds);
        CU_ASSERT_EQUAL(vault_waiter_wake(h.w, &waiter, rows[i].second), rows[i].holds);
        CU_ASSERT(hall_is_signalled(&waiter));
        CU_ASSERT_EQUAL(hall_take(&h, &waiter), rows[i].holds);
        CU_ASSERT(!hall_is_signalled(&waiter));
        CU_ASSERT_EQUAL(hall_take(&h, &waiter), 0);
    }
    vault_waiter_close(h.w, &waiter);
    hall_end(&h);
}

/* A signal without a cause is cleared, and the poll goes on waiting. The next wake signals it again. */
static void a_ring_for_nothing_ends_no_wait(void)
{
    hall_t h;
    vault_waiter_t waiter;
    apr_uint64_t one = 1;

    hall_begin(&h, 1);
    hall_enter(&h, &waiter);
    sit_until(&h, &waiter, FAR_OFF);
    CU_ASSERT_EQUAL(write(waiter.wakeup, &one, sizeof(one)), sizeof(one));
    CU_ASSERT(hall_is_signalled(&waiter));
    CU_ASSERT_EQUAL(hall_take(&h, &waiter), 0);
    CU_ASSERT(!hall_is_signalled(&waiter));
    CU_ASSERT_EQUAL(vault_waiters_count(h.w), 1);
    CU_ASSERT_EQUAL(vault_waiter_wake(h.w, &waiter, VAULT_CAUSE_RESUME), VAULT_CAUSE_RESUME);
    CU_ASSERT(hall_is_signalled(&waiter));
    CU_ASSERT_EQUAL(hall_take(&h, &waiter), VAULT_CAUSE_RESUME);
    vault_waiter_close(h.w, &waiter);
    hall_end(&h);
}

static void the_smaller_time_holds(void)
{
    hall_t h;
    vault_waiter_t soon, late;

    hall_begin(&h, 1);
    hall_enter(&h, &soon);
    hall_enter(&h, &late);
    sit_until(&h, &late, FAR_OFF);
    sit_until(&h, &soon, FAR_OFF);
    vault_waiter_shorten(h.w, &soon, FAR_OFF + apr_time_from_sec(3600));
    vault_waiter_shorten(h.w, &soon, vault_now());
    vault_waiter_shorten(h.w, &soon, FAR_OFF);
    CU_ASSERT(hall_await_signal(&soon));
    CU_ASSERT_EQUAL(hall_take(&h, &soon), VAULT_CAUSE_END);
    CU_ASSERT(!hall_is_signalled(&late));
    vault_waiter_shorten(h.w, &soon, vault_now()); /* it does not wait: nothing */
    CU_ASSERT_EQUAL(hall_take(&h, &soon), 0);
    vault_waiter_close(h.w, &soon);
    vault_waiter_close(h.w, &late);
    hall_end(&h);
}

/* Calls by name take no turn: the caller decides how many go. And a notify of all is not meant for those
 * that wait for none. */
static void it_needs_no_turn_and_no_interest(void)
{
    hall_t h;
    vault_waiter_t first, second, named;
    vault_wait_t wait[2];

    hall_begin(&h, 1);
    hall_come(&h, &first, &wait[0], 0, FAR_OFF);
    hall_come(&h, &second, &wait[1], 0, FAR_OFF);
    hall_enter(&h, &named);
    sit_until(&h, &named, FAR_OFF);
    vault_notifier_all(h.f.notifier, 0);
    CU_ASSERT(hall_await_signal(&first) || hall_is_signalled(&second)); /* the one turn is taken */
    hall_settle(&h);
    CU_ASSERT(!hall_is_signalled(&named));
    CU_ASSERT_EQUAL(hall_take(&h, &named), 0);
    CU_ASSERT_EQUAL(vault_waiter_wake(h.w, &named, VAULT_CAUSE_RESUME), VAULT_CAUSE_RESUME);
    CU_ASSERT(hall_is_signalled(&named));
    vault_waiter_close(h.w, &named);
    vault_waiter_close(h.w, &first);
    vault_waiter_close(h.w, &second);
    hall_end(&h);
}

static void a_stop_wakes_it_and_all_can_be_taken_out(void)
{
    hall_t h;
    vault_waiter_t waiter[3], *found;
    int i, seen = 0;

    hall_begin(&h, 1);
    for (i = 0; i < 3; i++) {
        hall_enter(&h, &waiter[i]);
        sit_until(&h, &waiter[i], FAR_OFF);
    }
    vault_waiters_stop(h.w);
    for (i = 0; i < 3; i++) {
        CU_ASSERT(hall_await_signal(&waiter[i]));
    }
    CU_ASSERT_EQUAL(hall_take(&h, &waiter[1]), VAULT_CAUSE_STOP);
    CU_ASSERT_EQUAL(vault_waiter_attach(h.w, &waiter[1], NULL, 0), 0);
    while ((found = vault_waiters_any(h.w))) {
        CU_ASSERT_EQUAL(vault_waiter_step(h.w, found, VAULT_ON_END), VAULT_DO_ABANDON);
        CU_ASSERT(found == &waiter[0] || found == &waiter[2]);
        seen++;
    }
    CU_ASSERT_EQUAL(seen, 2);
    for (i = 0; i < 3; i++) {
        vault_waiter_close(h.w, &waiter[i]);
    }
    hall_end(&h);
}

/* ------------------------------------------------------------------------ races */

typedef struct race_t {
    hall_t h;
    vault_waiter_t waiter;
    long round;              /* atomic; the waits that have begun */
    long calls;              /* atomic; that have been made */
    long resumed, completed; /* of one caller each, read at the end */
    int done;                /* atomic */
} race_t;

/* Two callers, one of each kind, once a round each, at any moment of it: before it is attached, while it waits,
 * when it is taken. */
static void *call_by_name(race_t *race, unsigned cause, long *held)
{
    long seen = 0;

    while (!LOAD(race->done)) {
        long round = LOAD(race->round);
        if (round == seen) {
            sched_yield();
            continue;
        }
        seen = round;
        if (vault_waiter_wake(race->h.w, &race->waiter, cause) & cause) {
            ++*held;
        }
        __atomic_add_fetch(&race->calls, 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

/* Each caller calls once a round, before the next one begins. */
static void await_calls(const race_t *race, long calls)
{
    while (LOAD(race->calls) < calls) {
        sched_yield();
    }
}

static void *resume(void *baton)
{
    race_t *race = baton;

    return call_by_name(race, VAULT_CAUSE_RESUME, &race->resumed);
}

static void *finish(void *baton)
{
    race_t *race = baton;

    return call_by_name(race, VAULT_CAUSE_COMPLETE, &race->completed);
}

/* 100,000 waits with a time-out of next to nothing, a resume and a complete each: every wait is woken, and as
 * often as a caller was told that its call holds, it was taken for that cause. */
static void resume_complete_and_time_race(void)
{
    race_t race;
    pthread_t callers[2];
    long round, resumed = 0, completed = 0, ended = 0, both = 0;

    memset(&race, 0, sizeof(race));
    hall_begin(&race.h, 1);
    hall_enter(&race.h, &race.waiter);
    CU_ASSERT_FATAL(!pthread_create(&callers[0], NULL, resume, &race));
    CU_ASSERT_FATAL(!pthread_create(&callers[1], NULL, finish, &race));
    for (round = 1; round <= ROUNDS; round++) {
        unsigned causes;

        race.waiter.due = race.waiter.end = vault_now() + round % 50;
        CU_ASSERT_FATAL(vault_waiter_attach(race.h.w, &race.waiter, NULL, 0));
        STORE(race.round, round);
        while (!(causes = hall_take(&race.h, &race.waiter))) {
            vault_waiter_sleep(&race.waiter, -1, 0);
        }
        resumed += (causes & VAULT_CAUSE_RESUME) != 0;
        completed += (causes & VAULT_CAUSE_COMPLETE) != 0;
        ended += (causes & VAULT_CAUSE_END) != 0;
        both += (causes & VAULT_CAUSE_RESUME) && (causes & VAULT_CAUSE_COMPLETE);
        await_calls(&race, 2 * round);
    }
    STORE(race.done, 1);
    pthread_join(callers[0], NULL);
    pthread_join(callers[1], NULL);
    CU_ASSERT_EQUAL(both, 0);
    CU_ASSERT(resumed > 0);
    CU_ASSERT(completed > 0);
    CU_ASSERT_EQUAL(resumed, race.resumed);
    CU_ASSERT_EQUAL(completed, race.completed);
    CU_ASSERT(resumed + completed + ended >= ROUNDS);
    vault_waiter_close(race.h.w, &race.waiter);
    hall_end(&race.h);
}

static void *hang_up(void *baton)
{
    close(*(int *)baton);
    return NULL;
}

/* A client hangs up while a resume comes: the poll is woken whichever is first, and a hang-up leaves it waiting
 * for its owner to look. */
static void hang_up_and_resume_race(void)
{
    race_t race;
    pthread_t caller, client;
    long round, gone = 0, resumed = 0;

    memset(&race, 0, sizeof(race));
    hall_begin(&race.h, 1);
    hall_enter(&race.h, &race.waiter);
    CU_ASSERT_FATAL(!pthread_create(&caller, NULL, resume, &race));
    for (round = 1; round <= ROUNDS_OF_HANG_UPS; round++) {
        unsigned causes;
        int fds[2], is_gone = 0;
        char byte;

        CU_ASSERT_FATAL(!socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
        CU_ASSERT_FATAL(!pthread_create(&client, NULL, hang_up, &fds[1]));
        race.waiter.due = race.waiter.end = vault_now() + apr_time_from_sec(20);
        CU_ASSERT_FATAL(vault_waiter_attach(race.h.w, &race.waiter, NULL, 0));
        vault_waiters_watch(race.h.w, fds[0], &race.waiter, 0);
        if (round % 2) {
            STORE(race.round, round);
        }
        do {
            vault_waiter_sleep(&race.waiter, -1, 0);
            causes = hall_take(&race.h, &race.waiter);
            is_gone = recv(fds[0], &byte, 1, MSG_DONTWAIT) == 0;
        } while (!causes && !is_gone);
        CU_ASSERT_EQUAL(causes & VAULT_CAUSE_END, 0);
        await_calls(&race, (round + 1) / 2);
        if (vault_waiter_step(race.h.w, &race.waiter, VAULT_ON_TAKE) == VAULT_DO_RUN) {
            causes |= race.waiter.causes;
        }
        gone += is_gone;
        resumed += (causes & VAULT_CAUSE_RESUME) != 0;
        vault_waiters_unwatch(race.h.w, fds[0]);
        pthread_join(client, NULL);
        close(fds[0]);
    }
    STORE(race.done, 1);
    pthread_join(caller, NULL);
    CU_ASSERT(gone > 0);
    CU_ASSERT_EQUAL(resumed, race.resumed);
    vault_waiter_close(race.h.w, &race.waiter);
    hall_end(&race.h);
}

void vault_wake_suite(void)
{
    CU_pSuite suite = CU_add_suite("wake", NULL, NULL);

    CU_ADD_TEST(suite, the_first_call_by_name_holds);
    CU_ADD_TEST(suite, a_ring_for_nothing_ends_no_wait);
    CU_ADD_TEST(suite, the_smaller_time_holds);
    CU_ADD_TEST(suite, it_needs_no_turn_and_no_interest);
    CU_ADD_TEST(suite, a_stop_wakes_it_and_all_can_be_taken_out);
    CU_ADD_TEST(suite, resume_complete_and_time_race);
    CU_ADD_TEST(suite, hang_up_and_resume_race);
}
