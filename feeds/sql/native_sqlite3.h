/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file native_sqlite3.h
 * What is done by SQLite itself, on libdbi's connections: SQLite spends more on reading most of the feeds'
 * statements than on running them, and libdbi prepares none.
 *
 * Each connection keeps the statements that it ran last. What tells them apart is their text with a question mark
 * for each value, which is bound; so values are never a part of what SQLite reads.
 *
 * Cells (driver.h) are made by a function of ours rather than by an expression, which is long. The function,
 * `vault_cell(X)`, is known to the connections that are made here and to no other: what stays in a database, as a
 * trigger does, cannot use it.
 */
#ifndef SQL_NATIVE_SQLITE3_H
#define SQL_NATIVE_SQLITE3_H

#include "sql/driver.h"

#define SQL_NATIVE_SQLITE3_CELL "vault_cell"

/** sql_driver_t::start. */
const char *sql_native_sqlite3_start(dbi_driver driver);

/** Make the function known to a connection. @return whether that went well */
int sql_native_sqlite3_register(const sql_conn_t *conn);

/** sql_driver_t::run. What it returns but SQL_RAN_NOT is as final as libdbi's answer would be: the statement is not
 * run again. */
sql_ran_e sql_native_sqlite3_run(sql_conn_t *conn, const sql_statement_t *sql, sql_row_fn row, void *data);

/** sql_driver_t::read_number. @return 0 also for a number below 0 */
int sql_native_sqlite3_number(sql_call_t *c, const char *statement, apr_int64_t *number);

/** sql_driver_t::forget. SQLite closes no connection that has a prepared statement. */
void sql_native_sqlite3_forget(sql_conn_t *conn);

#endif
