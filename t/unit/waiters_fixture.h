/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file waiters_fixture.h
 * What tests of waiting polls begin with: a child with a waker, three interests, and checks of their wakeups.
 */
#ifndef VAULT_WAITERS_FIXTURE_H
#define VAULT_WAITERS_FIXTURE_H

#include "base/now.h"
#include "fixture.h"
#include "wait/waiters.h"

#define FAR_OFF (vault_now() + apr_time_from_sec(3600))
/* How many carried wakeups are signalled at a time. */
#define SIGNAL_LIMIT 2

typedef struct hall_t {
    fixture_t f;
    vault_waiters_t *w;
    unsigned slot;
    vault_interest_t interest[3]; /* "a", "b", "c" */
} hall_t;

/** Make the segment, take a slot, hold the interests, start the waker. Ends the test when that fails. */
void hall_begin(hall_t *h, unsigned window);

/** Check that no poll waits any more, and free everything. */
void hall_end(hall_t *h);

/** Give a poll its wakeup. Ends the test when that fails. */
void hall_enter(hall_t *h, vault_waiter_t *waiter);

/** Attach the poll on one of the interests, and arm it. */
void hall_sit(hall_t *h, vault_waiter_t *waiter, vault_wait_t *wait, int interest, apr_time_t due);

/** Enter, and sit down at once. */
void hall_come(hall_t *h, vault_waiter_t *waiter, vault_wait_t *wait, int interest, apr_time_t due);

/** Begin with a window of one, and one poll, which waits for "a". */
void hall_begin_with(hall_t *h, vault_waiter_t *waiter, vault_wait_t *wait);

/** As a thread that the waiter's wakeup brings, once its handlers have returned: take it if it was woken.
 * @return its causes; 0: it waits on, or does not wait */
unsigned hall_take(hall_t *h, vault_waiter_t *waiter);

/** Make the two ends of a client's connection, and watch the first for the poll. Ends the test when the ends
 * cannot be made. */
void hall_watch(hall_t *h, vault_waiter_t *waiter, int fds[2]);

/** Wait until the wakeup is signalled, at most ten seconds. @return 1 it is */
int hall_await_signal(const vault_waiter_t *waiter);

/** Whether the wakeup is signalled, without waiting. */
int hall_is_signalled(const vault_waiter_t *waiter);

/** Wait until the waker has done all that there was to do. */
void hall_settle(hall_t *h);

#endif
