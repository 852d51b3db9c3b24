/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of waiting polls begin with: a child with a waker, three interests, and checks of their wakeups. */
#include "waiters_fixture.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE_MS 10000

void hall_begin(hall_t *h, unsigned window)
{
    static const char *const name[] = {"a", "b", "c"};
    apr_uint64_t stamp;
    int i;

    fixture_begin(&h->f, 64, 4, 0);
    CU_ASSERT_FATAL(vault_slot_claim(h->f.notifier, getpid(), &h->slot) == APR_SUCCESS);
    for (i = 0; i < 3; i++) {
        CU_ASSERT_FATAL(vault_interest_hold(h->f.notifier, name[i], &h->interest[i], &stamp) == APR_SUCCESS);
    }
    CU_ASSERT_FATAL(vault_waiters_create(&h->w, h->f.notifier, h->slot, window, SIGNAL_LIMIT, NULL, NULL, h->f.pool) ==
                    APR_SUCCESS);
}

void hall_end(hall_t *h)
{
    CU_ASSERT_EQUAL(vault_waiters_count(h->w), 0);
    CU_ASSERT_EQUAL(vault_slot_counters(h->f.notifier, h->slot)->waiting, 0);
    vault_waiters_destroy(h->w);
    CHECK_SOUND(vault_notifier_check(h->f.notifier));
    fixture_end(&h->f);
}

void hall_enter(hall_t *h, vault_waiter_t *waiter)
{
    memset(waiter, 0, sizeof(*waiter));
    CU_ASSERT_FATAL(vault_waiter_open(h->w, waiter) == APR_SUCCESS);
}

void hall_sit(hall_t *h, vault_waiter_t *waiter, vault_wait_t *wait, int interest, apr_time_t due)
{
    wait->interest = h->interest[interest];
    waiter->due = due;
    waiter->end = FAR_OFF;
    CU_ASSERT_EQUAL(vault_waiter_attach(h->w, waiter, wait, 1), 1);
    vault_interest_arm(h->f.notifier, wait->interest, h->slot);
}

void hall_come(hall_t *h, vault_waiter_t *waiter, vault_wait_t *wait, int interest, apr_time_t due)
{
    hall_enter(h, waiter);
    hall_sit(h, waiter, wait, interest, due);
}

void hall_begin_with(hall_t *h, vault_waiter_t *waiter, vault_wait_t *wait)
{
    hall_begin(h, 1);
    hall_come(h, waiter, wait, 0, FAR_OFF);
}

unsigned hall_take(hall_t *h, vault_waiter_t *waiter)
{
    vault_wait_step(&waiter->state, VAULT_ON_PARK);
    return vault_waiter_step(h->w, waiter, VAULT_ON_COLLECT) == VAULT_DO_RUN ? waiter->causes : 0;
}

void hall_watch(hall_t *h, vault_waiter_t *waiter, int fds[2])
{
    CU_ASSERT_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
    CU_ASSERT_EQUAL(vault_waiters_watch(h->w, fds[0], waiter, 1), APR_SUCCESS);
}

static int is_ready(int fd, int timeout)
{
    struct pollfd p = {fd, POLLIN, 0};

    return poll(&p, 1, timeout) == 1;
}

int hall_await_signal(const vault_waiter_t *waiting)
{
    return is_ready(waiting->wakeup, PATIENCE_MS);
}

int hall_is_signalled(const vault_waiter_t *waiting)
{
    return is_ready(waiting->wakeup, 0);
}

/* The waker drains the slot and wakes who is due at each turn, before it signals for clients. So two clients that
 * hang up, one after the other, are two turns. They have wakeups of their own. */
void hall_settle(hall_t *h)
{
    int i;

    for (i = 0; i < 2; i++) {
        vault_waiter_t client = {.wakeup = -1};
        int fds[2];

        CU_ASSERT_FATAL(vault_waiter_open(h->w, &client) == APR_SUCCESS);
        hall_watch(h, &client, fds);
        close(fds[1]);
        CU_ASSERT(hall_await_signal(&client));
        vault_waiters_unwatch(h->w, fds[0]);
        close(fds[0]);
        vault_waiter_close(h->w, &client);
    }
}
