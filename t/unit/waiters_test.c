/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the waiting polls of a child: what wakes them, in which order, how many at a time. Races are in
 * waiters_race_test.c. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit.h"
#include "waiters_fixture.h"

#define MANY 300

/* ---------------------------------------------------------------------- causes */

static void a_notify_wakes_the_polls_that_wait_for_it(void)
{
    hall_t h;
    vault_waiter_t a, b;
    vault_wait_t on_a, on_b;

    hall_begin(&h, 4);
    hall_come(&h, &a, &on_a, 0, FAR_OFF);
    hall_come(&h, &b, &on_b, 1, FAR_OFF);
    CU_ASSERT_EQUAL(vault_waiters_count(h.w), 2);
    CU_ASSERT_EQUAL(vault_notifier_notify(h.f.notifier, "a", 0), APR_SUCCESS);
    CU_ASSERT(hall_await_signal(&a));
    CU_ASSERT(!hall_is_signalled(&b));
    CU_ASSERT_EQUAL(vault_waiter_detach(h.w, &a), VAULT_CAUSE_NOTIFY);
    CU_ASSERT(!hall_is_signalled(&a)); /* silenced */
    CU_ASSERT_EQUAL(vault_waiter_detach(h.w, &a), 0);
    CU_ASSERT_EQUAL(vault_waiter_detach(h.w, &b), 0);
    vault_waiter_close(h.w, &a);
    vault_waiter_close(h.w, &a);
    vault_waiter_close(h.w, &b);
    hall_end(&h);
}

/* A poll is attached before it looks, and may find something: it must not be taken for one that waits. */
static void a_poll_counts_as_waiting_once_it_has_looked(void)
{
    hall_t h;
    vault_waiter_t waiter;
    vault_wait_t wait;
    const vault_counters_t *counters;

    hall_begin(&h, 1);
    counters = vault_slot_counters(h.f.notifier, h.slot);
    hall_come(&h, &waiter, &wait, 0, FAR_OFF);
    CU_ASSERT_EQUAL(counters->waiting, 0);
    vault_waiter_finish(h.w, &waiter);
    vault_waiter_finish(h.w, &waiter);
    CU_ASSERT_EQUAL(counters->waiting, 1);
    vault_waiter_detach(h.w, &waiter);
    CU_ASSERT_EQUAL(counters->waiting, 0);
    vault_waiter_finish(h.w, &waiter);
    CU_ASSERT_EQUAL(counters->waiting, 0);
    vault_waiter_close(h.w, &waiter);
    hall_end(&h);
}

static void a_poll_waits_for_several_interests(void)
{
    hall_t h;
    vault_waiter_t waiter;
    vault_wait_t waits[3];
    int i, k;

    hall_begin(&h, 1);
    hall_enter(&h, &waiter);
    for (i = 0; i < 3; i++) {
        for (k = 0; k < 3; k++) {
            waits[k].interest = h.interest[k];
        }
        waiter.due = waiter.end = FAR_OFF;
        CU_ASSERT_EQUAL(vault_waiter_attach(h.w, &waiter, waits, 3), 1);
        vault_waiter_finish(h.w, &waiter);
        for (k = 0; k < 3; k++) {
            vault_interest_arm(h.f.notifier, waits[k].interest, h.slot);
        }
        vault_notifier_notify_interest(h.f.notifier, h.interest[i], 0);
        CU_ASSERT(hall_await_signal(&waiter));
        CU_ASSERT_EQUAL(vault_waiter_detach(h.w, &waiter), VAULT_CAUSE_NOTIFY);
    }
    vault_waiter_close(h.w, &waiter);
    hall_end(&h);
}

static void a_notify_of_all_wakes_all(void)
{
    hall_t h;
    vault_waiter_t waiter[3];
    vault_wait_t wait[3];
    int i;

    hall_begin(&h, 3);
    for (i = 0; i < 3; i++) {
        hall_come(&h, &waiter[i], &wait[i], i, FAR_OFF);
    }
    vault_notifier_all(h.f.notifier, 0);
    for (i = 0; i < 3; i++) {
        CU_ASSERT(hall_await_signal(&waiter[i]));
        CU_ASSERT_EQUAL(vault_waiter_detach(h.w, &waiter[i]), VAULT_CAUSE_NOTIFY);
        vault_waiter_close(h.w, &waiter[i]);
    }
    hall_end(&h);
}

static void deadlines_come_in_order(void)
{
    static const int order[] = {3, 0, 4, 1, 2};
    hall_t h;
    vault_waiter_t waiter[5];
    vault_wait_t wait[5];
    apr_time_t first;
    int i;

    hall_begin(&h, 1); /* one at a time, so that the wakeups tell the order */
    first = vault_now() + apr_time_from_msec(20);
    for (i = 0; i < 5; i++) {
        hall_come(&h, &waiter[i], &wait[i], 0, FAR_OFF);
        vault_waiter_detach(h.w, &waiter[i]);
        hall_sit(&h, &waiter[i], &wait[i], 0, first + order[i] * 5000);
    }
    for (i = 0; i < 5; i++) {
        int k;
        for (k = 0; order[k] != i; k++) {
        }
        CU_ASSERT(hall_await_signal(&waiter[k]));
        CU_ASSERT(vault_now() >= first + i * 5000);
        CU_ASSERT_EQUAL(vault_waiter_detach(h.w, &waiter[k]), VAULT_CAUSE_DUE);
        vault_waiter_close(h.w, &waiter[k]);
    }
    hall_end(&h);
}

static void several_causes_come_together(void)
{
    hall_t h;
    vault_waiter_t first, second;
    vault_wait_t one, two;

    hall_begin(&h, 1);
    hall_enter(&h, &first);
    hall_enter(&h, &second);
    hall_sit(&h, &first, &one, 1, 0); /* has its turn, so that the second must wait for its own */
    CU_ASSERT(hall_await_signal(&first));
    hall_sit(&h, &second, &two, 0, 0);
    vault_notifier_notify(h.f.notifier, "a", 0);
    hall_settle(&h);
    CU_ASSERT(!hall_is_signalled(&second)); /* it is not its turn */
    vault_waiters_stop(h.w);
    CU_ASSERT(hall_await_signal(&second)); /* what is only answered needs none */
    CU_ASSERT_EQUAL(vault_waiter_detach(h.w, &first), VAULT_CAUSE_DUE | VAULT_CAUSE_STOP);
    vault_waiter_close(h.w, &first);
    CU_ASSERT_EQUAL(vault_waiter_detach(h.w, &second), VAULT_CAUSE_NOTIFY | VAULT_CAUSE_DUE | VAULT_CAUSE_STOP);
    vault_waiter_close(h.w, &second);
    hall_end(&h);
}

static void a_poll_whose_time_is_up_needs_no_turn(void)
{
    hall_t h;
    vault_waiter_t first, second;
    vault_wait_t one, two;

    hall_begin(&h, 1);
    hall_enter(&h, &first);
    hall_enter(&h, &second);
    hall_sit(&h, &first, &one, 1, 0);
    CU_ASSERT(hall_await_signal(&first));
    two.interest = h.interest[0];
    second.due = 0;
    second.end = vault_now() + apr_time_from_msec(30);
    CU_ASSERT_EQUAL(vault_waiter_attach(h.w, &second, &two, 1), 1);
    CU_ASSERT(hall_await_signal(&second));
    CU_ASSERT(vault_now() >= second.end);
    CU_ASSERT_EQUAL(vault_waiter_detach(h.w, &second), VAULT_CAUSE_DUE | VAULT_CAUSE_END);
    vault_waiter_close(h.w, &second);
    vault_waiter_close(h.w, &first);
    hall_end(&h);
}

static void a_poll_after_the_stop_may_not_wait(void)
{
    hall_t h;
    vault_waiter_t waiter;
    vault_wait_t wait = {.interest = 1};

    hall_begin_with(&h, &waiter, &wait);
    vault_waiters_stop(h.w);
    CU_ASSERT(hall_await_signal(&waiter));
    CU_ASSERT_EQUAL(vault_waiter_detach(h.w, &waiter), VAULT_CAUSE_STOP);
    CU_ASSERT_EQUAL(vault_waiter_attach(h.w, &waiter, &wait, 1), 0);
    CU_ASSERT_EQUAL(vault_waiter_detach(h.w, &waiter), 0);
    vault_waiter_close(h.w, &waiter);
    hall_end(&h);
}

/* ----------------------------------------------------------------------- turns */

/* One notify for many: at most `window` are woken at a time, each that is done lets one more go, and all get
 * their turn. */
static void turns(unsigned window)
{
    hall_t h;
    vault_waiter_t *waiter = calloc(MANY, sizeof(*waiter));
    vault_wait_t *wait = calloc(MANY, sizeof(*wait));
    unsigned i, done = 0, at_once = 0, most = 0;

    hall_begin(&h, window);
    for (i = 0; i < MANY; i++) {
        hall_come(&h, &waiter[i], &wait[i], 0, FAR_OFF);
    }
    vault_notifier_notify(h.f.notifier, "a", 0);
    CU_ASSERT(window < MANY || hall_await_signal(&waiter[0])); /* in a smaller window another may be the first */
    hall_settle(&h);
    while (done < MANY) {
        for (i = 0, at_once = 0; i < MANY; i++) {
            at_once += waiter[i].wakeup >= 0 && hall_is_signalled(&waiter[i]);
        }
        most = at_once > most ? at_once : most;
        CU_ASSERT_FATAL(at_once > 0);
        for (i = 0; waiter[i].wakeup < 0 || !hall_is_signalled(&waiter[i]); i++) {
        }
        CU_ASSERT_EQUAL(vault_waiter_detach(h.w, &waiter[i]), VAULT_CAUSE_NOTIFY);
        vault_waiter_close(h.w, &waiter[i]);
        done++;
    }
    CU_ASSERT_EQUAL(most, window < MANY ? window : MANY);
    hall_end(&h);
    free(waiter);
    free(wait);
}

static void a_broadcast_wakes_a_few_at_a_time(void)
{
    turns(1);
    turns(7);
    turns(MANY + 1);
}

/* Attached and armed again before its turn is over: what comes then gives it another turn. */
static void a_notify_during_a_turn_is_not_lost(void)
{
    hall_t h;
    vault_waiter_t waiter, other;
    vault_wait_t wait, others;

    hall_begin_with(&h, &waiter, &wait);
    hall_enter(&h, &other);
    vault_notifier_notify(h.f.notifier, "a", 0);
    CU_ASSERT(hall_await_signal(&waiter));
    CU_ASSERT_EQUAL(vault_waiter_detach(h.w, &waiter), VAULT_CAUSE_NOTIFY);
    hall_sit(&h, &other, &others, 1, FAR_OFF);
    vault_notifier_notify(h.f.notifier, "b", 0);
    hall_sit(&h, &waiter, &wait, 0, FAR_OFF);
    vault_notifier_notify(h.f.notifier, "a", 0);
    hall_settle(&h);
    CU_ASSERT(!hall_is_signalled(&waiter) &&
              !hall_is_signalled(&other)); /* it is the poll's turn, and it has not finished */
    vault_waiter_finish(h.w, &waiter);
    CU_ASSERT(hall_await_signal(&other)); /* who came before goes first */
    CU_ASSERT(!hall_is_signalled(&waiter));
    vault_waiter_close(h.w, &other);
    CU_ASSERT(hall_await_signal(&waiter));
    CU_ASSERT_EQUAL(vault_waiter_detach(h.w, &waiter), VAULT_CAUSE_NOTIFY);
    vault_waiter_finish(h.w, &waiter);
    vault_waiter_finish(h.w, &waiter); /* it is not its turn: nothing */
    vault_waiter_close(h.w, &waiter);
    hall_end(&h);
}

static void a_poll_that_leaves_the_queue_takes_no_turn(void)
{
    hall_t h;
    vault_waiter_t waiter[3];
    vault_wait_t wait[3];
    int i;

    hall_begin(&h, 1);
    for (i = 0; i < 3; i++) {
        hall_come(&h, &waiter[i], &wait[i], i, FAR_OFF);
    }
    for (i = 0; i < 3; i++) {
        vault_notifier_notify_interest(h.f.notifier, h.interest[i], 0);
        hall_settle(&h);
    }
    CU_ASSERT(hall_is_signalled(&waiter[0]));
    CU_ASSERT_EQUAL(vault_waiter_detach(h.w, &waiter[1]),
                    VAULT_CAUSE_NOTIFY); /* its client hung up while it was queued */
    vault_waiter_close(h.w, &waiter[1]);
    CU_ASSERT(!hall_is_signalled(&waiter[2]));
    vault_waiter_close(h.w, &waiter[0]);
    CU_ASSERT(hall_await_signal(&waiter[2]));
    vault_waiter_close(h.w, &waiter[2]);
    hall_end(&h);
}

/* --------------------------------------------------------------- wakeups, clients */

static void a_client_that_hangs_up_is_signalled_once(void)
{
    hall_t h;
    vault_waiter_t waiter;
    vault_wait_t wait;
    int fds[2], i;

    hall_begin(&h, 1);
    hall_enter(&h, &waiter);
    for (i = 0; i < 3; i++) {
        CU_ASSERT_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
        hall_sit(&h, &waiter, &wait, 0, FAR_OFF);
        if (i == 2) {
            close(fds[1]); /* before the waker watched it */
        }
        CU_ASSERT_EQUAL(vault_waiters_watch(h.w, fds[0], &waiter, 1), APR_SUCCESS);
        if (i == 0) {
            close(fds[1]);
        }
        else if (i == 1) {
            CU_ASSERT(write(fds[1], "x", 1) == 1);
        }
        CU_ASSERT(hall_await_signal(&waiter));
        CU_ASSERT_EQUAL(vault_waiter_detach(h.w, &waiter), 0);
        hall_settle(&h);
        CU_ASSERT(!hall_is_signalled(&waiter)); /* once */
        vault_waiters_unwatch(h.w, fds[0]);
        if (i == 1) {
            close(fds[1]);
        }
        close(fds[0]);
    }
    vault_waiter_close(h.w, &waiter);
    hall_end(&h);
}

static void a_watch_that_ended_signals_nothing(void)
{
    hall_t h;
    vault_waiter_t waiter;
    int fds[2];

    hall_begin(&h, 1);
    hall_enter(&h, &waiter);
    hall_watch(&h, &waiter, fds);
    vault_waiters_unwatch(h.w, fds[0]);
    close(fds[1]);
    hall_settle(&h);
    CU_ASSERT(!hall_is_signalled(&waiter));
    close(fds[0]);
    vault_waiter_close(h.w, &waiter);
    hall_end(&h);
}

static void wakeups_are_used_again_and_cleared(void)
{
    hall_t h;
    vault_waiter_t waiter;
    apr_uint64_t one = 1;
    int wakeup, i;

    hall_begin(&h, 1);
    hall_enter(&h, &waiter);
    wakeup = waiter.wakeup;
    vault_waiter_close(h.w, &waiter);
    CU_ASSERT_EQUAL(waiter.wakeup, -1);
    for (i = 0; i < 100; i++) {
        CU_ASSERT(write(wakeup, &one, sizeof(one)) == sizeof(one)); /* a signal that comes late */
        hall_enter(&h, &waiter);
        CU_ASSERT_EQUAL(waiter.wakeup, wakeup);
        CU_ASSERT(!hall_is_signalled(&waiter));
        vault_waiter_close(h.w, &waiter);
    }
    hall_end(&h);
}

/* As httpd's immediate stop does, which closes the sockets of its workers. */
static void a_wakeup_that_was_closed_under_its_poll_is_forgotten(void)
{
    hall_t h;
    vault_waiter_t waiter, next;
    vault_wait_t wait;
    int wakeup;

    hall_begin_with(&h, &waiter, &wait);
    wakeup = waiter.wakeup;
    CU_ASSERT_EQUAL(dup2(STDERR_FILENO, wakeup), wakeup); /* closed, and the number is another descriptor's now */
    vault_waiter_lose_wakeup(h.w, &waiter);
    vault_waiter_close(h.w, &waiter);
    CU_ASSERT_EQUAL(vault_waiters_count(h.w), 0);
    vault_notifier_notify_interest(h.f.notifier, h.interest[0], 0);
    hall_settle(&h);
    hall_enter(&h, &next);
    CU_ASSERT_NOT_EQUAL(next.wakeup, wakeup);
    vault_waiter_close(h.w, &next);
    close(wakeup);
    hall_end(&h);
}

static void a_nudge_signals_one_wakeup_that_is_carried(void)
{
    hall_t h;
    vault_waiter_t waiter[3];
    vault_wait_t wait[3];
    int i;

    hall_begin(&h, 3);
    CU_ASSERT_EQUAL(vault_waiters_nudge(h.w), 0);
    for (i = 0; i < 3; i++) {
        hall_come(&h, &waiter[i], &wait[i], 0, FAR_OFF);
    }
    CU_ASSERT_EQUAL(vault_waiters_nudge(h.w), 0); /* they wait in threads */
    vault_waiter_carry(h.w, &waiter[1], 1);
    CU_ASSERT_EQUAL(vault_waiters_nudge(h.w), 1);
    CU_ASSERT(hall_is_signalled(&waiter[1]) && !hall_is_signalled(&waiter[0]) && !hall_is_signalled(&waiter[2]));
    vault_waiter_carry(h.w, &waiter[1], 0);
    CU_ASSERT_EQUAL(hall_take(&h, &waiter[1]), 0); /* for nothing: it goes on waiting */
    vault_waiter_carry(h.w, &waiter[1], 1);
    vault_notifier_notify_interest(h.f.notifier, h.interest[0], 0);
    CU_ASSERT(hall_await_signal(&waiter[1]));
    CU_ASSERT_EQUAL(vault_waiters_nudge(h.w), 0); /* it is on its way */
    vault_waiter_carry(h.w, &waiter[1], 0);
    for (i = 0; i < 3; i++) {
        vault_waiter_close(h.w, &waiter[i]);
    }
    hall_end(&h);
}

/* At a stop at once the MPM has closed carried wakeups, and their numbers may be other descriptors by now. A poll that
 * waits in a thread is woken all the same. */
static void a_carried_wakeup_is_not_signalled_when_the_process_ends_at_once(void)
{
    hall_t h;
    vault_waiter_t carried, back, own, client;
    vault_wait_t wait[3];
    int fds[2];

    hall_begin(&h, 3);
    hall_come(&h, &carried, &wait[0], 0, FAR_OFF);
    hall_come(&h, &back, &wait[1], 0, FAR_OFF);
    hall_come(&h, &own, &wait[2], 0, FAR_OFF);
    hall_enter(&h, &client);
    vault_waiter_carry(h.w, &carried, 1);
    vault_waiter_carry(h.w, &back, 1);
    vault_waiter_carry(h.w, &back, 0);
    hall_watch(&h, &client, fds);
    vault_waiters_halt(h.w);
    close(fds[1]);
    vault_waiters_stop(h.w);
    CU_ASSERT(hall_await_signal(&own));
    CU_ASSERT(hall_await_signal(&back));
    CU_ASSERT_NOT_EQUAL(vault_waiter_wake(h.w, &carried, VAULT_CAUSE_RESUME), 0);
    vault_waiters_destroy(h.w); /* the waker has done whatever it would have */
    CU_ASSERT_FALSE(hall_is_signalled(&carried));
    CU_ASSERT_FALSE(hall_is_signalled(&client));
    close(fds[0]);
    vault_waiter_close(h.w, &carried);
    vault_waiter_close(h.w, &back);
    vault_waiter_close(h.w, &own);
    vault_waiter_close(h.w, &client);
    CU_ASSERT_EQUAL(vault_waiters_count(h.w), 0);
    fixture_end(&h.f);
}

/* An extraneous signal has no cause: the poll goes on. */
static void an_extraneous_signal_does_no_harm(void)
{
    hall_t h;
    vault_waiter_t waiter;
    vault_wait_t wait;
    apr_uint64_t one = 1;

    hall_begin_with(&h, &waiter, &wait);
    CU_ASSERT(write(waiter.wakeup, &one, sizeof(one)) == sizeof(one));
    vault_waiter_sleep(&waiter, -1, 1);
    CU_ASSERT_EQUAL(vault_waiter_detach(h.w, &waiter), 0);
    vault_waiter_finish(h.w, &waiter);
    hall_sit(&h, &waiter, &wait, 0, FAR_OFF);
    vault_notifier_notify(h.f.notifier, "a", 0);
    vault_waiter_sleep(&waiter, -1, 1);
    CU_ASSERT_EQUAL(vault_waiter_detach(h.w, &waiter), VAULT_CAUSE_NOTIFY);
    vault_waiter_close(h.w, &waiter);
    hall_end(&h);
}

/* An index read from a spoiled state leads nowhere. */
static void an_interest_that_cannot_be_is_no_danger(void)
{
    static const vault_interest_t wrong[] = {0, 65, 0x7fffffffu, 0xffffffffu};
    hall_t h;
    vault_waiter_t waiter;
    vault_wait_t waits[5];
    unsigned i;

    hall_begin(&h, 1);
    hall_enter(&h, &waiter);
    for (i = 0; i < 4; i++) {
        waits[i].interest = wrong[i];
    }
    waits[4].interest = h.interest[0];
    waiter.due = waiter.end = FAR_OFF;
    CU_ASSERT_EQUAL(vault_waiter_attach(h.w, &waiter, waits, 5), 1);
    for (i = 0; i < 5; i++) {
        vault_interest_arm(h.f.notifier, waits[i].interest, h.slot);
    }
    vault_notifier_notify(h.f.notifier, "a", 0);
    CU_ASSERT(hall_await_signal(&waiter));
    vault_waiter_close(h.w, &waiter);
    hall_end(&h);
}

void vault_waiters_suite(void)
{
    CU_pSuite suite = CU_add_suite("waiters", NULL, NULL);

    CU_ADD_TEST(suite, a_notify_wakes_the_polls_that_wait_for_it);
    CU_ADD_TEST(suite, a_poll_counts_as_waiting_once_it_has_looked);
    CU_ADD_TEST(suite, a_poll_waits_for_several_interests);
    CU_ADD_TEST(suite, a_notify_of_all_wakes_all);
    CU_ADD_TEST(suite, deadlines_come_in_order);
    CU_ADD_TEST(suite, several_causes_come_together);
    CU_ADD_TEST(suite, a_poll_whose_time_is_up_needs_no_turn);
    CU_ADD_TEST(suite, a_poll_after_the_stop_may_not_wait);
    CU_ADD_TEST(suite, a_broadcast_wakes_a_few_at_a_time);
    CU_ADD_TEST(suite, a_notify_during_a_turn_is_not_lost);
    CU_ADD_TEST(suite, a_poll_that_leaves_the_queue_takes_no_turn);
    CU_ADD_TEST(suite, a_client_that_hangs_up_is_signalled_once);
    CU_ADD_TEST(suite, a_watch_that_ended_signals_nothing);
    CU_ADD_TEST(suite, wakeups_are_used_again_and_cleared);
    CU_ADD_TEST(suite, a_wakeup_that_was_closed_under_its_poll_is_forgotten);
    CU_ADD_TEST(suite, a_nudge_signals_one_wakeup_that_is_carried);
    CU_ADD_TEST(suite, a_carried_wakeup_is_not_signalled_when_the_process_ends_at_once);
    CU_ADD_TEST(suite, an_extraneous_signal_does_no_harm);
    CU_ADD_TEST(suite, an_interest_that_cannot_be_is_no_danger);
}
