/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file guard.h
 * A time-out for statements whose server does not end them itself, because it is frozen or unreachable.
 *
 * A thread of the child checks the running statements, and shuts down the socket of a statement that is past its
 * time-out. The client library, which waits for an answer on the socket, then gets an error. The thread has a duplicate
 * of the socket's descriptor: the library may close its own at any time, and another connection may get the number.
 */
#ifndef SQL_GUARD_H
#define SQL_GUARD_H

#include "apr_pools.h"

typedef struct sql_guard_t sql_guard_t;

/** The statement that runs on one connection. */
typedef struct sql_guarded_t {
    int descriptor;             /* const while connected; -1: there is no socket to shut down */
    apr_int64_t until;          /* lock of the guard: second of the monotonic clock */
    struct sql_guarded_t *next; /* lock of the guard */
} sql_guarded_t;

/** Start the thread, and stop it, when no statement runs any more. @return APR_SUCCESS, or why there is no thread */
apr_status_t sql_guard_start(sql_guard_t **guard, apr_pool_t *pool);
void sql_guard_stop(sql_guard_t *guard);

/** A connection with this socket was made, or will be closed. */
void sql_guarded_open(sql_guarded_t *guarded, int socket);
void sql_guarded_close(sql_guarded_t *guarded);

/** A statement begins, whose time-out is `seconds` (or one more); and it ends. The thread that uses the connection. */
void sql_guard_begin(sql_guard_t *guard, sql_guarded_t *guarded, int seconds);
void sql_guard_end(sql_guard_t *guard, sql_guarded_t *guarded);

#endif
