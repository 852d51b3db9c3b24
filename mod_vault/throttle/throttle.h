/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file throttle.h
 * VaultQosLimit: limits how many requests of a location are handled at once; the others wait without a thread.
 * qos.h describes the order of admission, and which request is refused when the queue is full.
 *
 * The gates of qos.h count and queue; this file leads requests through them. A handler hook that runs before
 * all others, except those of the suspend folder, admits a request or suspends it (suspend.h). When the request
 * has been admitted, the hook runs the other handlers itself, and leaves the gate when they have returned: by
 * then the backend has answered, and httpd sends the rest of the answer. A handler that suspends the request
 * itself keeps its admission until it has run again. However a request ends, the cleanup of its pool leaves its
 * gates.
 *
 * Main requests only, since a subrequest is part of its main request. An internal redirect is the same request,
 * and is counted once in each location that it passes. The answer to an error (ErrorDocument) never waits.
 *
 * Thread: the one that owns the request; the waker finds admitted requests under a lock of throttle.c.
 */
#ifndef VAULT_THROTTLE_H
#define VAULT_THROTTLE_H

#include "httpd.h"
#include "http_config.h"

#include "qos/qos.h"

/** One VaultQosLimit of the configuration. All locations that inherit it share one count. */
typedef struct vault_throttle_t {
    int limit;        /* 0: Off */
    int each;         /* the limit for one client */
    const char *path; /* of the section with the directive; NULL: the server's */
    const char *name; /* the name of its gate; from post_config on */
    const server_rec *server;
    vault_qos_gate_t gate; /* from post_config on; birth 0: none */
} vault_throttle_t;

/** Called in a child: from now on requests can wait. */
void vault_throttle_start(apr_pool_t *pchild);

/** Register the hooks of this file. */
void vault_throttle_hooks(void);

#endif
