/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the limit on how many carried wakeups are signalled at a time. */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit.h"
#include "waiters_fixture.h"

#define CROWD 7

typedef struct crowd_t {
    hall_t h;
    vault_waiter_t waiter[CROWD];
    vault_wait_t wait[CROWD];
    apr_time_t began;
} crowd_t;

/* All polls wait, and the MPM polls for their wakeups. */
static void crowd_begin(crowd_t *c)
{
    int i;

    c->began = vault_now();
    hall_begin(&c->h, CROWD);
    for (i = 0; i < CROWD; i++) {
        hall_come(&c->h, &c->waiter[i], &c->wait[i], 0, FAR_OFF);
        vault_waiter_carry(c->h.w, &c->waiter[i], 1);
    }
}

static void crowd_end(crowd_t *c)
{
    int i;

    for (i = 0; i < CROWD; i++) {
        vault_waiter_close(c->h.w, &c->waiter[i]);
    }
    hall_end(&c->h);
}

static int count_signalled(const crowd_t *c)
{
    int i, n = 0;

    for (i = 0; i < CROWD; i++) {
        n += hall_is_signalled(&c->waiter[i]);
    }
    return n;
}

/* `left` polls have been woken. As many wakeups are signalled as the limit allows. After a second in which no thread
 * has collected one, more of them are signalled, so the check is left out on a machine that is so slow. */
static void check_limit(const crowd_t *c, int left)
{
    int signalled = count_signalled(c);

    if (vault_now() - c->began < apr_time_from_sec(1)) {
        CU_ASSERT_EQUAL(signalled, left < SIGNAL_LIMIT ? left : SIGNAL_LIMIT);
    }
}

/* A poll whose wakeup is signalled, and that no thread has collected; -1: none. */
static int find_signalled(const crowd_t *c)
{
    int i;

    for (i = 0; i < CROWD && !hall_is_signalled(&c->waiter[i]); i++) {
    }
    return i < CROWD ? i : -1;
}

/* A thread collects the wakeup. */
static unsigned collect(crowd_t *c, int i)
{
    vault_waiter_carry(c->h.w, &c->waiter[i], 0);
    return vault_waiter_detach(c->h.w, &c->waiter[i]);
}

static void no_more_are_signalled_than_the_limit(void)
{
    crowd_t c;
    int i, n;

    crowd_begin(&c);
    vault_waiters_stop(c.h.w);
    hall_settle(&c.h);
    for (n = CROWD; n > 0; n--) {
        check_limit(&c, n);
        i = find_signalled(&c);
        CU_ASSERT_FATAL(i >= 0);
        CU_ASSERT_EQUAL(collect(&c, i), VAULT_CAUSE_STOP);
    }
    crowd_end(&c);
}

/* For a client that hangs up there is a wakeup to signal, and no cause to note. */
static void clients_that_hang_up_all_at_once_take_turns(void)
{
    crowd_t c;
    int fds[CROWD][2], i, n;

    crowd_begin(&c);
    for (i = 0; i < CROWD; i++) {
        hall_watch(&c.h, &c.waiter[i], fds[i]);
    }
    for (i = 0; i < CROWD; i++) {
        close(fds[i][1]);
    }
    hall_settle(&c.h);
    for (n = CROWD; n > 0; n--) {
        check_limit(&c, n);
        i = find_signalled(&c);
        CU_ASSERT_FATAL(i >= 0);
        CU_ASSERT_EQUAL(collect(&c, i), 0);
        vault_waiters_unwatch(c.h.w, fds[i][0]);
        close(fds[i][0]);
    }
    crowd_end(&c);
}

static void the_oldest_is_signalled_first(void)
{
    static const int order[CROWD] = {3, 0, 6, 4, 1, 5, 2};
    crowd_t c;
    int i;

    crowd_begin(&c);
    for (i = 0; i < CROWD; i++) {
        CU_ASSERT_EQUAL(vault_waiter_wake(c.h.w, &c.waiter[order[i]], VAULT_CAUSE_RESUME), VAULT_CAUSE_RESUME);
    }
    for (i = 0; i < CROWD; i++) {
        CU_ASSERT(hall_is_signalled(&c.waiter[order[i]]));
        CU_ASSERT_EQUAL(collect(&c, order[i]), VAULT_CAUSE_RESUME);
    }
    crowd_end(&c);
}

/* The MPM has ended its connection by then, at its Timeout. */
static void a_poll_that_ends_before_its_signal_delays_no_other(void)
{
    static const int going[] = {2, 0, 6, 3};
    crowd_t c;
    unsigned i;

    crowd_begin(&c);
    for (i = 0; i < CROWD; i++) {
        vault_waiter_wake(c.h.w, &c.waiter[i], VAULT_CAUSE_RESUME);
    }
    for (i = 0; i < sizeof(going) / sizeof(*going); i++) {
        vault_waiter_close(c.h.w, &c.waiter[going[i]]);
    }
    CU_ASSERT_EQUAL(collect(&c, 1), VAULT_CAUSE_RESUME);
    CU_ASSERT(hall_is_signalled(&c.waiter[4]));
    CU_ASSERT(hall_is_signalled(&c.waiter[5]));
    crowd_end(&c);
}

static void a_wakeup_that_is_not_carried_does_not_count(void)
{
    crowd_t c;
    vault_waiter_t own;
    vault_wait_t wait;

    crowd_begin(&c);
    hall_come(&c.h, &own, &wait, 0, FAR_OFF);
    vault_waiters_stop(c.h.w);
    CU_ASSERT(hall_await_signal(&own));
    vault_waiter_close(c.h.w, &own);
    crowd_end(&c);
}

/* httpd may lose a connection. The wakeups that are deferred must not wait for it for ever. */
static void deferred_wakeups_are_signalled_when_no_thread_comes_for_a_second(void)
{
    crowd_t c;

    crowd_begin(&c);
    vault_waiters_stop(c.h.w);
    hall_settle(&c.h);
    check_limit(&c, CROWD);
    while (count_signalled(&c) < CROWD) {
        hall_settle(&c.h);
    }
    crowd_end(&c);
}

void vault_waiters_wakeups_suite(void)
{
    CU_pSuite suite = CU_add_suite("waiters_wakeups", NULL, NULL);

    CU_ADD_TEST(suite, no_more_are_signalled_than_the_limit);
    CU_ADD_TEST(suite, clients_that_hang_up_all_at_once_take_turns);
    CU_ADD_TEST(suite, the_oldest_is_signalled_first);
    CU_ADD_TEST(suite, a_poll_that_ends_before_its_signal_delays_no_other);
    CU_ADD_TEST(suite, a_wakeup_that_is_not_carried_does_not_count);
    CU_ADD_TEST(suite, deferred_wakeups_are_signalled_when_no_thread_comes_for_a_second);
}
