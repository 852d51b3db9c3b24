/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the limit on how many carried bells ring at a time. */
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

/* All polls wait, and the MPM polls for their bells. */
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

static int count_ringing(const crowd_t *c)
{
    int i, n = 0;

    for (i = 0; i < CROWD; i++) {
        n += hall_is_ringing(&c->waiter[i]);
    }
    return n;
}

/* Of `left` polls that have been woken, as many ring as the limit allows. More may ring after a second in which no
 * thread has collected one, so a machine that is so slow proves nothing here. */
static void check_limit(const crowd_t *c, int left)
{
    int ringing = count_ringing(c);

    if (vault_now() - c->began < apr_time_from_sec(1)) {
        CU_ASSERT_EQUAL(ringing, left < RING_LIMIT ? left : RING_LIMIT);
    }
}

/* A poll whose bell rings and that no thread has collected; -1: none. */
static int find_ringing(const crowd_t *c)
{
    int i;

    for (i = 0; i < CROWD && !hall_is_ringing(&c->waiter[i]); i++) {
    }
    return i < CROWD ? i : -1;
}

/* A thread collects the bell. */
static unsigned fetch(crowd_t *c, int i)
{
    vault_waiter_carry(c->h.w, &c->waiter[i], 0);
    return vault_waiter_detach(c->h.w, &c->waiter[i]);
}

static void no_more_ring_than_the_limit(void)
{
    crowd_t c;
    int i, n;

    crowd_begin(&c);
    vault_waiters_stop(c.h.w);
    hall_settle(&c.h);
    for (n = CROWD; n > 0; n--) {
        check_limit(&c, n);
        i = find_ringing(&c);
        CU_ASSERT_FATAL(i >= 0);
        CU_ASSERT_EQUAL(fetch(&c, i), VAULT_CAUSE_STOP);
    }
    crowd_end(&c);
}

/* Clients that hang up ring by descriptor alone. */
static void clients_that_hang_up_all_at_once_ring_in_their_turn(void)
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
        i = find_ringing(&c);
        CU_ASSERT_FATAL(i >= 0);
        CU_ASSERT_EQUAL(fetch(&c, i), 0);
        vault_waiters_unwatch(c.h.w, fds[i][0]);
        close(fds[i][0]);
    }
    crowd_end(&c);
}

static void the_oldest_rings_first(void)
{
    static const int order[CROWD] = {3, 0, 6, 4, 1, 5, 2};
    crowd_t c;
    int i;

    crowd_begin(&c);
    for (i = 0; i < CROWD; i++) {
        CU_ASSERT_EQUAL(vault_waiter_wake(c.h.w, &c.waiter[order[i]], VAULT_CAUSE_RESUME), VAULT_CAUSE_RESUME);
    }
    for (i = 0; i < CROWD; i++) {
        CU_ASSERT(hall_is_ringing(&c.waiter[order[i]]));
        CU_ASSERT_EQUAL(fetch(&c, order[i]), VAULT_CAUSE_RESUME);
    }
    crowd_end(&c);
}

/* The MPM has ended its connection by then, at its Timeout. */
static void a_poll_that_ends_before_its_bell_rings_delays_no_other(void)
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
    CU_ASSERT_EQUAL(fetch(&c, 1), VAULT_CAUSE_RESUME);
    CU_ASSERT(hall_is_ringing(&c.waiter[4]));
    CU_ASSERT(hall_is_ringing(&c.waiter[5]));
    crowd_end(&c);
}

static void a_bell_that_is_not_carried_does_not_count(void)
{
    crowd_t c;
    vault_waiter_t own;
    vault_wait_t wait;

    crowd_begin(&c);
    hall_come(&c.h, &own, &wait, 0, FAR_OFF);
    vault_waiters_stop(c.h.w);
    CU_ASSERT(hall_rings(&own));
    vault_waiter_close(c.h.w, &own);
    crowd_end(&c);
}

/* httpd may lose a connection: the others must not wait for it for ever. */
static void deferred_bells_ring_when_no_thread_comes_for_a_second(void)
{
    crowd_t c;

    crowd_begin(&c);
    vault_waiters_stop(c.h.w);
    hall_settle(&c.h);
    check_limit(&c, CROWD);
    while (count_ringing(&c) < CROWD) {
        hall_settle(&c.h);
    }
    crowd_end(&c);
}

void vault_waiters_wakeups_suite(void)
{
    CU_pSuite suite = CU_add_suite("waiters_wakeups", NULL, NULL);

    CU_ADD_TEST(suite, no_more_ring_than_the_limit);
    CU_ADD_TEST(suite, clients_that_hang_up_all_at_once_ring_in_their_turn);
    CU_ADD_TEST(suite, the_oldest_rings_first);
    CU_ADD_TEST(suite, a_poll_that_ends_before_its_bell_rings_delays_no_other);
    CU_ADD_TEST(suite, a_bell_that_is_not_carried_does_not_count);
    CU_ADD_TEST(suite, deferred_bells_ring_when_no_thread_comes_for_a_second);
}
