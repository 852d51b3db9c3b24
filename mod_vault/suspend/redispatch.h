/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file redispatch.h
 * Runs the handlers of requests that may be suspended.
 *
 * A handler hook before all others notes whose handlers a thread runs. For a request that can be parked it does
 * nothing more, and the thread that the MPM brings calls vault_redispatch(). For others it runs the handlers
 * itself; when they return SUSPENDED it sleeps, and then calls vault_redispatch().
 *
 * The handlers run again by ap_run_handler(): ap_invoke_handler() would insert the request's filters once more.
 *
 * Threads: the one that owns the request.
 */
#ifndef VAULT_REDISPATCH_H
#define VAULT_REDISPATCH_H

#include "suspend/suspend.h"

/** Does this thread run the handlers of `r`? Any thread. */
int vault_redispatch_is_running(const request_rec *r);

/** Has the client hung up, or closed its half of the connection? Reads nothing. By the thread that owns the request. */
int vault_redispatch_client_gone(const request_rec *r);

/** What has become of a request for which a thread came. */
typedef enum vault_redispatch_t {
    VAULT_REDISPATCH_ANSWERED,    /* its handlers have returned for good, or it has ended without them */
    VAULT_REDISPATCH_WAITS_AGAIN, /* its handlers have run and suspended it again */
    VAULT_REDISPATCH_WAITS_ON     /* it was not woken: nothing has changed */
} vault_redispatch_t;

/** A thread has come for a request that waits, since its wakeup was signalled or its client did something: run its
 * handlers again, or end the request, or let it wait on.
 * @param status  of ANSWERED: what the handlers have returned */
vault_redispatch_t vault_redispatch(vault_suspension_t *s, int *status);

/** Register the hooks of this file. */
void vault_redispatch_hooks(void);

#endif
