/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file connection.h
 * The connections of one child, at most `connections` of them. One call at a time uses a connection.
 *
 * libdbi is thread-safe as long as a connection with its results is used by one thread at a time, and its instance's
 * list of connections is locked: db->lock does that. The parent does not keep connections over a fork.
 */
#ifndef SQL_CONNECTION_H
#define SQL_CONNECTION_H

#include "apr_hash.h"

#include "sql/driver.h"
#include "sql/guard.h"
#include "sql/sql.h"
#include "sql/statement.h"

/** A connection, or room for one. It belongs to the call that took it. */
struct sql_conn_t {
    sql_database_t *db;
    dbi_conn dbi;            /**< NULL: not connected */
    sql_identity_t identity; /**< of the file at the time of connecting */
    sql_guarded_t guarded;
    int is_new;               /**< connected since it was taken */
    int broken;               /**< will be closed when it is given back */
    apr_pool_t *pool;         /**< of `tables` and `generation`; cleared when the schema changes */
    apr_hash_t *tables;       /**< name -> sql_table_t; NULL: nothing is cached */
    const char *generation;   /**< version of the schema that `tables` describes; NULL: the driver has none */
    apr_time_t read_at;       /**< when `tables` was created empty */
    apr_uint64_t asked;       /**< how often this connection has asked for the version of the schema */
    apr_uint64_t asked_first; /**< the value of `asked` at the first question after `tables` was emptied */
    int has_worn;             /**< `pool` has a table that has been replaced in `tables` */
    /** the current statement was made from `tables` without asking whether they are up to date */
    int assumes;
    void *prepared; /**< for the driver: its prepared statements; NULL: none */
};

/** Start and stop the connections of a child. @return NULL, or a sentence that says what failed */
const char *sql_pool_start(sql_database_t *db, apr_pool_t *pchild);
void sql_pool_stop(sql_database_t *db);

/** Create a pool with an allocator of its own: the only thread that uses it allocates without a lock. */
apr_status_t sql_pool_of_its_own(apr_pool_t **pool);

/** Create a connection object for a background thread. It is not connected yet. */
apr_status_t sql_conn_make(sql_conn_t **conn, sql_database_t *db);
void sql_conn_destroy(sql_conn_t *conn);

/** Take a connection for this call, and connect it if necessary; sets c->conn. Waits for at most `timeout` for a free
 * one.
 * @return APR_SUCCESS
 *         APR_EAGAIN  no connection is free, or the database cannot be reached; the reason is set
 *         other       failed; the reason is set, and no connection is held */
apr_status_t sql_conn_take(sql_call_t *c);
/** Give c->conn back. Does nothing if there is none. */
void sql_conn_give_back(sql_call_t *c);

/** Run one statement.
 *
 * If the connection was lost since its last use, the first statement of a call is run a second time. So it must not
 * change data. Statements that write follow sql_conn_begin_write().
 * @param result  NULL: not wanted; otherwise free it with dbi_result_free before the connection is given back
 * @return APR_SUCCESS
 *         APR_EINVAL    the database refuses the values
 *         APR_EAGAIN    the database is locked, or the connection is lost
 *         APR_EGENERAL  failed
 *         Except for APR_SUCCESS the reason is set. */
apr_status_t sql_conn_query(sql_call_t *c, const char *statement, dbi_result *result);
/** Run a statement without rows, formatted as by sql_statement (statement.h). */
apr_status_t sql_execute(sql_call_t *c, const char *format, ...);

/** Run a statement whose columns are cells, through the client library if the driver can: it keeps statements prepared.
 * @param row   called for each row; NULL: rows are ignored
 * @return as sql_conn_query(); SQL_STALE: see catalogue.h */
apr_status_t sql_conn_run(sql_call_t *c, const sql_statement_t *sql, sql_row_fn row, void *data);

/** Call `row` for each row of a result. @param pool  for a few small allocations */
void sql_result_rows(dbi_result result, apr_pool_t *pool, sql_row_fn row, void *data);

/** Run a statement, and read the first cell of its first row. @param cell  in c->pool; NULL: no row, or the value
 * NULL */
apr_status_t sql_conn_cell(sql_call_t *c, const char *statement, const char **cell);

/** Run a statement that may fail; sets no reason. It must not be the first one of a call. @return 0: it failed, and
 * sql_conn_message() has the reason (connect.h) */
int sql_conn_try(sql_call_t *c, const char *statement);

/** Run a statement that may fail, and read the cell of a column, from 1; sets no reason. @return NULL: also if it
 * failed */
char *sql_conn_ask(sql_call_t *c, const char *statement, unsigned column);

/** Begin a transaction that will write, or one that reads and whose statements all see the same state of the
 * database. */
apr_status_t sql_conn_begin_write(sql_call_t *c);
apr_status_t sql_conn_begin_read(sql_call_t *c);
/** Commit the transaction. After an error it is unknown whether it was committed. Roll back also then. */
apr_status_t sql_conn_commit(sql_call_t *c);
/** Roll back after an error; sets no reason. */
void sql_conn_rollback(sql_call_t *c);
/** End a transaction: commit if `rv` is APR_SUCCESS, otherwise roll back. @return rv, or why it could not be committed,
 * and was rolled back */
apr_status_t sql_conn_end(sql_call_t *c, apr_status_t rv);

#endif
