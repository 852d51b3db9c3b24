/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file suspend.h
 * Suspended requests: what vault.h offers to every module, and the little more that the dispatcher needs.
 *
 * A request waits by the bell where that can be (park.h): its handler has returned SUSPENDED and no thread has it. Elsewhere it waits
 * in its thread: a handler hook before all others runs the handlers itself, and where they come back with SUSPENDED it sleeps there
 * and runs them again (redispatch.h). Either way the one that wakes is a thread which then owns the request, and vault_redispatch() says
 * what becomes of it.
 *
 * The dispatcher waits for interests, may be told that its client moves, and knows what it was woken for; so it attaches the poll
 * of the suspension itself (waiters.h), compares, and then lets it wait:
 *
 *     vault_suspension_make(&s, r);                  // with a bell
 *     vault_waiter_attach(waiters, &s->poll, …);       // arm, compare
 *     vault_suspension_wait(s, baton);               // and return SUSPENDED
 *     …
 *     baton = vault_suspension_woken(r);              // its handler runs again
 *
 * Threads: the one that has the request, but where it says any.
 */
#ifndef VAULT_SUSPEND_H
#define VAULT_SUSPEND_H

#include "httpd.h"
#include "util_filter.h"

#include "shm/client_table.h"
#include "wait/waiters.h"

/** A request that can wait. In its pool; made when it first wants to. */
typedef struct vault_suspension_t {
    vault_waiter_t waiter; /* first: waiters hand it back (vault_waiters_pop) */
    request_rec *r;
    void *baton;                 /* of the dispatcher's poll; NULL: it is none */
    const char *handler;         /* r->handler when it was suspended; ap_invoke_handler() puts another one back */
    ap_filter_t *gate;           /* keeps others from writing while it is suspended; NULL: it is open, or not needed */
    unsigned causes;             /* what it was woken for last */
    int suspended;               /* atomic; from vault_suspension_wait() until a thread has it again */
    unsigned tells : 1;          /* it is the dispatcher's: whatever rings, its handler runs again */
    unsigned known : 1;          /* it can be found by its request, and goes with it */
    unsigned owes : 1;           /* the hook request_completed has not run */
    unsigned thread : 1;         /* it has one of VaultLongPollThreads, while it waits or may wait again */
    vault_client_id_t client;    /* whose it is; 0: not asked for so far */
    vault_client_row_t wait_row; /* where that counts as waiting, while it waits or may wait again; 0: nowhere */
    struct vault_suspension_t *below; /* of the same connection, older */
} vault_suspension_t;

/** The optional functions of vault.h, of these names. */
apr_status_t vault_request_suspend(request_rec *r, apr_interval_time_t timeout);
apr_status_t vault_request_resume(request_rec *r);
apr_status_t vault_request_complete(request_rec *r);
int vault_request_is_suspended(const request_rec *r);
int vault_request_is_resumed(const request_rec *r);
int vault_request_is_timeout(const request_rec *r);

/** The longest time that `r` may wait: the Timeout of both servers that have a say, less a margin. (The connection's is that of the
 * first virtual host of its address.) */
apr_interval_time_t vault_suspension_longest(const request_rec *r);

/** As vault_request_suspend(), for a request that waits to be served, not for news: a graceful stop of its child waits for it as for one
 * that runs. */
apr_status_t vault_suspension_outlast(request_rec *r, apr_interval_time_t timeout);

/** It was suspended by mod_vault itself, and its own handlers run next, for the first time: they are not to take it for a wait of theirs
 * (vault_request_is_resumed). */
void vault_suspension_settle(const request_rec *r);

/** The suspension of `r` with a bell for its poll, made if it has none.
 * @return APR_SUCCESS; or what eventfd said, and then the poll's bell is -1: it cannot wait */
apr_status_t vault_suspension_make(vault_suspension_t **s, request_rec *r);

/** Let the dispatcher's request wait: its poll is attached. The handler returns SUSPENDED next, whatever rings meanwhile.
 * @param baton  for vault_suspension_woken()
 * @return APR_SUCCESS; APR_EAGAIN too many wait: nothing was done, the poll is attached as before */
apr_status_t vault_suspension_wait(vault_suspension_t *s, void *baton);

/** The baton of a request that waited and whose handler runs again, once for each vault_suspension_wait(). `causes` says why, its
 * poll is detached.
 * @return NULL: it has not waited for the dispatcher */
void *vault_suspension_woken(const request_rec *r);

/* ------------------------------------------- for park.c and redispatch.c */

/** The suspension of `r` if it has ever waited, or NULL. Any thread, as long as `r` is there. */
vault_suspension_t *vault_suspension_find(const request_rec *r);

/** Is it suspended? Any thread. */
int vault_suspension_is_on(const vault_suspension_t *s);

/** A thread has it: it can be written to. */
void vault_suspension_off(vault_suspension_t *s);

/** It will not wait again: it gives back what it has to wait, one of VaultLongPollThreads and one of VaultMaxWaitingPerClient. */
void vault_suspension_leave(vault_suspension_t *s);

/** Its handlers have returned something else than SUSPENDED: it was never suspended. */
void vault_suspension_revoke(vault_suspension_t *s);

/** It is suspended now: its handlers have returned. */
void vault_suspension_began(vault_suspension_t *s);

/** Its handlers are about to run again. */
void vault_suspension_resumed(vault_suspension_t *s);

/** It ends: tell the hooks, once. */
void vault_suspension_complete(vault_suspension_t *s);

/** Nobody will come for it: its connection ends. */
void vault_suspension_gone(vault_suspension_t *s);

/* ------------------------------------------- for child.c */

/** The child ends, its threads have ended: forget all that still wait, so that their modules do. */
void vault_suspension_end_all(void);

/** Register the hooks of this file. */
void vault_suspension_hooks(void);

#endif
