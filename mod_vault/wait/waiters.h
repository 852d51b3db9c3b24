/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file waiters.h
 * All that wait in this child (waiter.h): on which interests, until when, and whose turn it is to be woken.
 *
 * At most `window` waiters are woken at a time; each that is done lets the next one go (vault_waiter_finish). A
 * broadcast to thousands thus leaves threads free for the rest of the site and does not stampede the backend. A
 * waiter that is only answered (its time is up, this child ends), or that was called by name, needs no turn.
 *
 * One thread a child, the waker, drains the wake queue, watches deadlines and the clients' sockets.
 *
 * Threads: any of this process. One lock, held for list moves only; nothing is called under it. (Order: list >
 * stripe > queue.)
 */
#ifndef VAULT_WAITERS_H
#define VAULT_WAITERS_H

#include "apr_time.h"

#include "notify/slot.h"
#include "wait/waiter.h"

/** Begin to let requests wait in this child. Starts the waker thread.
 * @param slot    this child's
 * @param window  how many are woken at a time, at least 1
 * @param signal_limit  how many carried wakeups are signalled at a time, at least 1; see vault_waiter_carry()
 * @param tick    called by the waker, without any lock: about once a second, also while stopping; ten times a second
 *                after vault_waiters_halt(); may be NULL
 * @return APR_SUCCESS, or what the system said */
apr_status_t vault_waiters_create(vault_waiters_t **waiters, vault_notifier_t *notifier, unsigned slot, unsigned window,
                                  unsigned signal_limit, void (*tick)(void *baton), void *baton, apr_pool_t *pchild);

/** Have `woken` called by the waker, without any lock, each time it has drained the wake queue: for tables that
 * share the eventfd of the slot (vault_slot_ring()).
 * @param woken  its `all` is 1 when everything in this child must be woken, whatever those tables say */
void vault_waiters_on_wake(vault_waiters_t *w, void (*woken)(int all));

/** Nothing waits here any more: every waiter is woken with STOP, but for those that outlast it, and
 * vault_waiter_attach() refuses the others from now on. Only sets a flag and writes one eventfd: also for a signal
 * handler. */
void vault_waiters_stop(vault_waiters_t *w);

/** This process ends at once, and the MPM may have closed the wakeups that are carried (vault_waiter_carry).
 * Another file may have their descriptors by now, so they are not signalled any more. Call vault_waiters_stop() as
 * well, after it. Only sets a flag. */
void vault_waiters_halt(vault_waiters_t *w);

/** Signal one wakeup that is carried, for nothing, so that the MPM's listener wakes up.
 * @return 0 there is none */
int vault_waiters_nudge(vault_waiters_t *w);

/** Has vault_waiters_stop() been called? Has vault_waiters_halt()? */
int vault_waiters_stopping(const vault_waiters_t *w);
int vault_waiters_halted(const vault_waiters_t *w);

/** Stop the waker thread and wait for its end, for a limited time, since a signal handler may call this that has
 * interrupted a thread of this process while it held the lock (prefork). */
void vault_waiters_destroy(vault_waiters_t *w);

/** Signal the wakeup when `fd`, the client's socket, hangs up; once. Of a waiter that writes: also when it can be
 * written to.
 * @param talks  1: also when it has data, unless the waiter writes */
apr_status_t vault_waiters_watch(vault_waiters_t *w, int fd, const vault_waiter_t *waiter, int talks);
void vault_waiters_unwatch(vault_waiters_t *w, int fd);

/** Any one that is suspended, for when the child ends and no thread will come for it: the caller ends it. @return
 * NULL: none is */
vault_waiter_t *vault_waiters_any(vault_waiters_t *w);

/** How many are attached now. */
unsigned vault_waiters_count(vault_waiters_t *w);

#endif
