/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file conn_ctx.h
 * What the module keeps for a connection: its suspended requests, and what park.c needs to park it.
 *
 * Lives as long as the connection. Only the thread that has the connection writes it; any thread that resumes a
 * request reads `suspensions`.
 */
#ifndef VAULT_CONN_CTX_H
#define VAULT_CONN_CTX_H

#include "httpd.h"

struct vault_suspension_t;

typedef struct vault_conn_ctx_t {
    struct vault_suspension_t
        *suspensions; /* atomic; of its requests that have waited and are not gone, the latest first */
    /* The rest is park.c's. */
    int fd;      /* the TCP descriptor while the socket carries a wakeup; else -1 */
    int inside;  /* the other process_connection hooks run */
    int stays;   /* it idles after an answer of this module; other modules' waits are not touched */
    int idle_fd; /* idle_lock; the TCP descriptor while the connection idles after an answer */
    struct vault_conn_ctx_t *next, **link; /* idle_lock; the list of those */
} vault_conn_ctx_t;

/** The context of a connection, or NULL. */
vault_conn_ctx_t *vault_conn_ctx_of(const conn_rec *c);

/** The context of a connection, made if there is none. By the thread that has the connection. */
vault_conn_ctx_t *vault_conn_ctx_make(conn_rec *c);

#endif
