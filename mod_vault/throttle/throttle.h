/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file throttle.h
 * VaultQosLimit: at most so many requests of a location are handled at once; the others wait without a thread. qos.h
 * says who is let in next, and which request is refused when the queue is full.
 *
 * The gates (qos.h) count and queue; here requests are led through them. A handler hook before all others but those of suspend.c lets a
 * request in or suspends it (suspend.h); once it is in, the hook runs the other handlers itself, and gives the place back when they
 * have returned: by then the backend has been asked and has answered, and what the client has not taken yet is httpd's. A handler that
 * suspends the request itself keeps the place until it has run again. However the request ends, its pool gives back what it has.
 *
 * Main requests only: a subrequest is part of the request around it. An internal redirect is the same request, counted once in each
 * location that it comes through; the answer to an error (ErrorDocument) is never held up.
 *
 * Thread: the one that owns the request; the waker looks for those that were let in, under a lock of this file.
 */
#ifndef VAULT_THROTTLE_H
#define VAULT_THROTTLE_H

#include "httpd.h"
#include "http_config.h"

#include "qos/qos.h"

/** One VaultQosLimit of the configuration. All locations that inherit it share its count. */
typedef struct vault_throttle_t {
    int limit;        /* 0: Off */
    int each;         /* of one client */
    const char *path; /* of the section it stands in; NULL: none, the server's */
    const char *name; /* of its gate; from post_config on */
    const server_rec *server;
    vault_qos_gate_t gate; /* from post_config on; birth 0: it has none */
} vault_throttle_t;

/** In a child: from now on requests may wait. */
void vault_throttle_start(apr_pool_t *pchild);

/** Register the hooks of this file. */
void vault_throttle_hooks(void);

#endif
