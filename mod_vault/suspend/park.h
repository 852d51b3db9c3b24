/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file park.h Waiting without a thread: the connection is parked in the pollset of the MPM, and its socket
 * carries an eventfd meanwhile.
 *
 * That eventfd is the wakeup of the request (waiter.h), and the MPM polls for it. When it is signalled, the MPM
 * gives the connection to one of its worker threads, with all of its accounting right, and the request goes on in
 * that thread, which alone owns it. Slow readers, keep-alive, close, time-outs and TLS stay with the MPM. Needs
 * the event MPM of httpd 2.4.63 or later (CONN_STATE_ASYNC_WAITIO).
 *
 * The states of the request meanwhile are those of wait_state.h: process_connection() fires PARK when the handlers
 * have returned SUSPENDED, and calls vault_redispatch() in the thread that the MPM brings. When the MPM ends the
 * connection instead (Timeout, shutdown), resume_connection() fires END, or the cleanup of the request's pool
 * does.
 */
#ifndef VAULT_PARK_H
#define VAULT_PARK_H

#include "httpd.h"

#include "suspend/suspend.h"

/** What the client of a waiting request is doing. */
typedef enum vault_client_t {
    VAULT_CLIENT_QUIET, /* nothing: it waits */
    VAULT_CLIENT_TALKS, /* it has sent the next request already */
    VAULT_CLIENT_GONE   /* it hung up, closed its half, or mod_reqtimeout gave it up */
} vault_client_t;

/** Look, without blocking and without taking anything. By the thread that owns the request, its body read.
 * @param reads  1: a client that is gone may still be QUIET; for a request that waits next, since the waker, which
 *               watches its socket, sees that at once. 2: look again, to be sure */
vault_client_t vault_client_look(request_rec *r, int reads, apr_pool_t *scratch);

/** Has the client of a waiting request done anything? If not, there is no need to look: a look goes through the
 * filters, where mod_reqtimeout counts the time since the first one. By the thread that owns the request. @return
 * 1 where that cannot be seen (HTTP/2) */
int vault_client_stirs(const request_rec *r);

/** Can the MPM of this process park connections? */
int vault_park_available(void);

/** Can this request be parked? Not on an internal redirect (the core takes SUSPENDED for an error there), not in a
 * subrequest, not on an HTTP/2 stream. */
int vault_park_usable(const request_rec *r);

/** This child is stopping: end the connections that idle after an answer, as the MPM ends those in keep-alive. Any
 * thread; may be called again. */
void vault_park_close_idle(void);

/** Register the hooks of this file. */
void vault_park_hooks(void);

#endif
