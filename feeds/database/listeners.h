/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file listeners.h
 * Whether anybody but this watcher is told by the database of what is committed. As long as nobody is, writers that announce what they write
 * keep it from telling (board.h), and need not wake this watcher either.
 *
 * Of one thread, the watcher's.
 */
#ifndef DATABASE_LISTENERS_H
#define DATABASE_LISTENERS_H

#include "dialect.h"

/** All zero, but for the first two. */
typedef struct database_listeners_t {
    const database_t *feed;            /* const */
    const database_dialect_t *dialect; /* const */
    apr_time_t count_at; /* thread: when it will ask whether others listen; 0: it has not, on this connection */
} database_listeners_t;

/** With another connection, and when a look has failed: nobody knows whether others are told, so writers tell. */
void database_listeners_forget(database_listeners_t *listeners);

/** Ask, on the connection that listens, if it is time. @return as sql_conn_query */
apr_status_t database_listeners_count(database_listeners_t *listeners, sql_call_t *c);

#endif
