/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file connection.h
 * The connections of one child, at most `connections` of them, each used by one call at a time.
 *
 * libdbi is thread-safe as long as a connection with its results stays on one thread at a time and the list of
 * connections in its instance is guarded: db->lock does that. The parent keeps none of this over a fork.
 */
#ifndef SQL_CONNECTION_H
#define SQL_CONNECTION_H

#include "apr_hash.h"

#include "sql/driver.h"
#include "sql/guard.h"
#include "sql/sql.h"
#include "sql/statement.h"

/** A place for a connection: owned by the call that took it. */
struct sql_conn_t {
    sql_database_t *db;
    dbi_conn dbi;            /**< NULL: not connected */
    sql_identity_t identity; /**< of the file when it connected */
    sql_guarded_t guarded;
    int is_new;               /**< was made since it was taken */
    int broken;               /**< to be closed when given back */
    apr_pool_t *pool;         /**< of the two below; cleared when the schema changes */
    apr_hash_t *tables;       /**< name -> sql_table_t; NULL: to be read again */
    const char *generation;   /**< of the schema that `tables` describe; NULL: the driver knows none */
    apr_time_t read_at;       /**< when `tables` was empty */
    apr_uint64_t asked;       /**< how often the driver was asked for the generation; the larger, the later */
    apr_uint64_t asked_first; /**< which of these came first after `tables` was emptied */
    int has_worn;             /**< `pool` has a table that is in `tables` no more, as another one took its place */
    int assumes;              /**< what runs now was made for `tables` without asking whether they are still so */
    void *prepared;           /**< the driver's own: what it keeps prepared; NULL: nothing */
};

/** Start and stop in a child. @return NULL, or a sentence */
const char *sql_pool_start(sql_database_t *db, apr_pool_t *pchild);
void sql_pool_stop(sql_database_t *db);

/** A pool with an allocator of its own: a thread that is its only user allocates without a lock. */
apr_status_t sql_pool_of_its_own(apr_pool_t **pool);

/** A place of its own, for a background thread; not yet connected. */
apr_status_t sql_conn_make(sql_conn_t **conn, sql_database_t *db);
void sql_conn_destroy(sql_conn_t *conn);

/** Take a connection for this call, connecting if need be; sets c->conn. Waits at most `timeout` for a free one.
 * @return APR_SUCCESS
 *         APR_EAGAIN  none is free, or the database cannot be reached; a sentence was given
 *         other       failed; a sentence was given, and nothing is held */
apr_status_t sql_conn_take(sql_call_t *c);
/** Give c->conn back. Does nothing when there is none. */
void sql_conn_give_back(sql_call_t *c);

/** Run one statement.
 *
 * The first of a call may run twice, when it turns out that the server was started again meanwhile: it must not change
 * anything. Writing statements come after sql_conn_begin_write anyway.
 * @param result  NULL: not wanted; else to be freed with dbi_result_free before the connection is given back
 * @return APR_SUCCESS
 *         APR_EINVAL    the database refuses the values
 *         APR_EAGAIN    locked, or gone
 *         APR_EGENERAL  failed; each time a sentence was given */
apr_status_t sql_conn_query(sql_call_t *c, const char *statement, dbi_result *result);
/** Run a statement without rows, put together as sql_statement does (statement.h). */
apr_status_t sql_execute(sql_call_t *c, const char *format, ...);

/** Run a statement of cells, past libdbi where the driver can: a statement that was run before is not read again.
 * @param row   gets each row; NULL: rows are of no interest
 * @return as sql_conn_query; SQL_STALE, as catalogue.h says */
apr_status_t sql_conn_run(sql_call_t *c, const sql_statement_t *sql, sql_row_fn row, void *data);

/** Give each row of a result to `row`. @param pool  gets a little */
void sql_result_rows(dbi_result result, apr_pool_t *pool, sql_row_fn row, void *data);

/** Run one statement whose first cell is wanted. @param cell  in c->pool; NULL: no row, or NULL in it */
apr_status_t sql_conn_cell(sql_call_t *c, const char *statement, const char **cell);

/** Run a statement that may fail, and say nothing then. Not the first one of a call. @return 0: it failed, as
 * sql_conn_message says (connect.h) */
int sql_conn_try(sql_call_t *c, const char *statement);

/** Read a cell of any column, from 1 on, with a statement that may fail: says nothing. @return NULL: it failed,
 * too */
char *sql_conn_ask(sql_call_t *c, const char *statement, unsigned column);

/** Begin a transaction: one that will write, or one whose statements all see the same state of the database. */
apr_status_t sql_conn_begin_write(sql_call_t *c);
apr_status_t sql_conn_begin_read(sql_call_t *c);
/** Commit it. After an error it is unknown whether it happened; roll back all the same. */
apr_status_t sql_conn_commit(sql_call_t *c);
/** Undo a transaction after an error; says nothing. */
void sql_conn_rollback(sql_call_t *c);
/** End a transaction that has gone as `rv` says: commit it, or undo it. @return rv, or why it could not be
 * committed, and was undone */
apr_status_t sql_conn_end(sql_call_t *c, apr_status_t rv);

#endif
