/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file guard.h
 * An end for statements that the server itself does not end: one that is frozen, or gone without a word.
 *
 * A thread of the child's looks at the statements that run, and shuts the socket of one that is past its time; the
 * library that waits for an answer on it gets an error then. It has a descriptor of its own for that socket: the
 * library may close its one at any time, and another connection may get the number.
 */
#ifndef SQL_GUARD_H
#define SQL_GUARD_H

#include "apr_pools.h"

typedef struct sql_guard_t sql_guard_t;

/** What runs on one connection. */
typedef struct sql_guarded_t {
    int descriptor;             /* const while it is connected; -1: nothing to shut */
    apr_int64_t until;          /* lock of the guard: second of the monotonic clock */
    struct sql_guarded_t *next; /* lock of the guard */
} sql_guarded_t;

/** Start it, and stop it: by then no statement runs any more. @return APR_SUCCESS, or why there is no thread */
apr_status_t sql_guard_start(sql_guard_t **guard, apr_pool_t *pool);
void sql_guard_stop(sql_guard_t *guard);

/** A connection was made, with this socket, or will be closed. */
void sql_guarded_open(sql_guarded_t *guarded, int socket);
void sql_guarded_close(sql_guarded_t *guarded);

/** A statement begins that has to end in so many seconds (or one more), and ends. The thread that uses the
 * connection. */
void sql_guard_begin(sql_guard_t *guard, sql_guarded_t *guarded, int seconds);
void sql_guard_end(sql_guard_t *guard, sql_guarded_t *guarded);

#endif
