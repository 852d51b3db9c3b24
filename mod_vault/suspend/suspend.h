/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file suspend.h
 * Suspended requests: what vault.h offers to every module, and the little more that the dispatcher needs.
 *
 * One vault_suspension_t says everything about a request that can wait: its state (wait_state.h has the table of
 * states and events), why it was woken and until when it waits (waiter.h), and what httpd needs to run its
 * handlers again. docs/internals.md follows one poll through the states.
 *
 * A request waits parked where that can be (park.h): its handlers have returned SUSPENDED, and the MPM polls for
 * its wakeup. Elsewhere it waits in its thread: a handler hook before all others runs the handlers itself, and
 * where they return SUSPENDED it sleeps there (redispatch.h). Either way the thread that its wakeup brings calls
 * vault_redispatch().
 *
 * The dispatcher waits for interests, is told when its client sends something, and looks itself why it was woken.
 * So it attaches the waiter of the suspension itself, compares, and then lets the request wait:
 *
 *     s = vault_suspension_make(r);
 *     vault_suspension_prepare(s);
 *     vault_waiter_attach(waiters, &s->waiter, …);   // then arm, compare
 *     vault_suspension_wait(s, poll);                // and return SUSPENDED
 *     …
 *     poll = vault_suspension_woken(r);              // its handler runs again
 *
 * Threads: the one that owns the request, unless a comment says otherwise.
 */
#ifndef VAULT_SUSPEND_H
#define VAULT_SUSPEND_H

#include "httpd.h"
#include "util_filter.h"

#include "shm/client_table.h"
#include "wait/waiters.h"

/** A request that can wait. In its pool; made when it first wants to. */
typedef struct vault_suspension_t {
    vault_waiter_t waiter; /* first: vault_waiters_any() gives it */
    request_rec *r;
    void *poll;                       /* the dispatcher's, while it waits; NULL: it is no poll */
    const char *handler;              /* r->handler when it was suspended; ap_invoke_handler() puts another one back */
    ap_filter_t *guard;               /* keeps others from writing while it is suspended; NULL: there is none */
    unsigned known : 1;               /* it has waited: it can be found by its request, and ends with it */
    unsigned thread : 1;              /* it has one of VaultLongPollThreads, while it waits or may wait again */
    vault_client_id_t client;         /* whose it is; 0: not asked for so far */
    vault_client_row_t wait_row;      /* where that counts as waiting, while it waits or may wait again; 0: nowhere */
    struct vault_suspension_t *older; /* of the same connection */
} vault_suspension_t;

/** The optional functions of vault.h, of these names. */
apr_status_t vault_request_suspend(request_rec *r, apr_interval_time_t timeout);
apr_status_t vault_request_resume(request_rec *r);
apr_status_t vault_request_complete(request_rec *r);
int vault_request_is_suspended(const request_rec *r);
int vault_request_is_resumed(const request_rec *r);
int vault_request_is_timeout(const request_rec *r);

/** The longest time that `r` may wait: the Timeout of both servers that have a say, less a margin. (The
 * connection's is that of the first virtual host of its address.) */
apr_interval_time_t vault_suspension_longest(const request_rec *r);

/** As vault_request_suspend(), for a request that waits to be served, not for news: a graceful stop of its child
 * waits for it as for one that runs. */
apr_status_t vault_suspension_outlast(request_rec *r, apr_interval_time_t timeout);

/** The same, and a notification of `interest` wakes it. The interest is armed when this returns, so the caller
 * then checks what it waits for, and calls vault_request_resume() if there is nothing left to wait for. */
apr_status_t vault_suspension_await(request_rec *r, apr_interval_time_t timeout, vault_interest_t interest);

/** It was suspended by mod_vault itself, and its own handlers run next, for the first time: they are not to take it
 * for a wait of theirs (vault_request_is_resumed). */
void vault_suspension_settle(const request_rec *r);

/** The suspension of `r`, made if it has none. */
vault_suspension_t *vault_suspension_make(request_rec *r);

/** Get what it needs to wait.
 * @return APR_SUCCESS; or the error of eventfd, and then the wakeup is -1: it cannot wait */
apr_status_t vault_suspension_prepare(vault_suspension_t *s);

/** Let the request wait: its waiter is attached. The handler returns SUSPENDED next, even if it is woken meanwhile.
 * @param poll  for vault_suspension_woken(): the dispatcher's; NULL: it is no poll
 * @return APR_SUCCESS; APR_EAGAIN too many wait: the caller detaches the waiter */
apr_status_t vault_suspension_wait(vault_suspension_t *s, void *poll);

/** The poll of a request that waited and whose handler runs again, once for each vault_suspension_wait().
 * `waiter.causes` says why.
 * @return NULL: it has not waited for the dispatcher */
void *vault_suspension_woken(const request_rec *r);

/** It will not wait again: release what it needs for that, its wakeup, one of VaultLongPollThreads and one of
 * VaultMaxWaitingPerClient. May be called twice. */
void vault_suspension_release(vault_suspension_t *s);

/* ------------------------------------------- for park.c and redispatch.c */

/** The suspension of `r` if it has ever waited, or NULL. Any thread, as long as `r` is there. */
vault_suspension_t *vault_suspension_find(const request_rec *r);

/** Is it suspended (vault_wait_is_suspended())? Any thread. */
int vault_suspension_is_on(const vault_suspension_t *s);

/** Its response can be written to again. */
void vault_suspension_open_output(vault_suspension_t *s);

/** REVOKE: its handlers have returned something other than SUSPENDED. It was never suspended. */
void vault_suspension_revoke(vault_suspension_t *s);

/** PARK: its handlers have returned SUSPENDED. From here on no thread owns it. */
void vault_suspension_park(vault_suspension_t *s);

/** Its handlers are about to run again: run the hook. */
void vault_suspension_resumed(vault_suspension_t *s);

/** It ends, by END or HANG_UP: release what it has and run the hook request_completed.
 * @return 0 it had ended before; or, of HANG_UP, it has been woken meanwhile and must be run: nothing was done */
int vault_suspension_end(vault_suspension_t *s, vault_wait_event_t event);

/* ------------------------------------------- for child.c */

/** The child ends, its threads have ended: end all that are still suspended, so that their modules learn of it. */
void vault_suspension_end_all(void);

/** Register the hooks of this file. */
void vault_suspension_hooks(void);

#endif
