/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file connect.h
 * Establishing connections. For the files of this layer.
 *
 * If a server cannot be reached, one thread at a time tries again, after a pause. All other calls fail at once with the
 * reason of the last attempt, so that a page gets its answer quickly however long an attempt takes.
 */
#ifndef SQL_CONNECT_H
#define SQL_CONNECT_H

#include "sql/sql.h"

/** Connect c->conn, prepare it, run the script of `init` if there is no table yet, and tell the feed.
 * @return APR_SUCCESS; APR_EAGAIN or the status of a statement: the reason is set, and the connection is `broken` or
 *         closed */
apr_status_t sql_connect(sql_call_t *c);

/** Why the file of the database cannot be used: which user lacks which right, or else `why`. libdbi only knows that it
 * failed. The -wal and -shm files are in the same folder, so the rights on the folder count as well. */
const char *sql_file_why(const sql_call_t *c, const char *why);

/** Close the connection, keep the object. */
void sql_conn_close(sql_conn_t *conn);

/** The last error message of the database, in one line. In c->pool. */
const char *sql_conn_message(sql_call_t *c);

#endif
