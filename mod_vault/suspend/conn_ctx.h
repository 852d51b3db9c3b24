/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file conn_ctx.h
 * What the module keeps for a connection: whose request waits on it, and how.
 *
 * Lives as long as the connection. Written by the thread that has the connection; `suspensions` is read by any that calls a
 * suspended request by name.
 */
#ifndef VAULT_CONN_CTX_H
#define VAULT_CONN_CTX_H

#include "httpd.h"

struct vault_suspension_t;

typedef struct vault_conn_ctx_t {
    struct vault_suspension_t
        *suspensions; /* atomic; of its requests that have waited and are not gone, the latest first */
    /* The rest is park.c's. */
    int fd;      /* the TCP descriptor while the socket carries the bell; else -1 */
    int inside;  /* the other process_connection hooks run */
    int stays;   /* it idles after an answer of ours: what others wait for is theirs */
    int idle_fd; /* idle_lock; the TCP descriptor while the connection idles after an answer */
    struct vault_conn_ctx_t *next, **link; /* idle_lock; the list of those */
} vault_conn_ctx_t;

/** The visit of a connection, or NULL. */
vault_conn_ctx_t *vault_conn_ctx_of(const conn_rec *c);

/** The same, made if need be. By the thread that has the connection. */
vault_conn_ctx_t *vault_conn_ctx_make(conn_rec *c);

#endif
