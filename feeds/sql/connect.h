/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file connect.h
 * How a connection comes to be, for the files of this layer.
 *
 * A server that cannot be reached is asked again by one thread at a time, and not at once: all others are refused
 * with the sentence of the last attempt, so that a page gets its answer quickly however long an attempt may take.
 */
#ifndef SQL_CONNECT_H
#define SQL_CONNECT_H

#include "sql/sql.h"

/** Connect c->conn, make it ready, run the script of `init` if there is no table yet, and tell the feed.
 * @return APR_SUCCESS; APR_EAGAIN or what a statement returned: a sentence was given, and the connection is
 * `broken` or closed */
apr_status_t sql_connect(sql_call_t *c);

/** Why the file of the database cannot be used: who has to have which right, if that is missing; else `why`. libdbi
 * knows no more than that it could not. Beside the file there are -wal and -shm, so the rights on its folder count
 * as well. */
const char *sql_file_why(const sql_call_t *c, const char *why);

/** Close it, keep the place. */
void sql_conn_close(sql_conn_t *conn);

/** What the database said last, in one line. In c->pool. */
const char *sql_conn_message(sql_call_t *c);

#endif
