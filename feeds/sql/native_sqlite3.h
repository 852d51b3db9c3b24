/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file native_sqlite3.h
 * Uses SQLite's library on libdbi's connections: SQLite spends more time on parsing most statements of the feeds than
 * on running them, and libdbi does not prepare statements.
 *
 * Each connection keeps the statements that it ran last. They are told apart by their text with a question mark for
 * each value. Values are bound, so SQLite never parses them.
 *
 * Cells (driver.h) are made by a function of the feed, `vault_cell(X)`, since the expression would be long. Only
 * connections of the feed know this function. So what is stored in a database, such as a trigger, cannot use it.
 */
#ifndef SQL_NATIVE_SQLITE3_H
#define SQL_NATIVE_SQLITE3_H

#include "sql/driver.h"

#define SQL_NATIVE_SQLITE3_CELL "vault_cell"

/** sql_driver_t::start. */
const char *sql_native_sqlite3_start(dbi_driver driver);

/** Register the function with a connection. @return 0: it failed */
int sql_native_sqlite3_register(const sql_conn_t *conn);

/** sql_driver_t::run. Any result but SQL_RAN_NOT is final: the statement is not run again. */
sql_ran_e sql_native_sqlite3_run(sql_conn_t *conn, const sql_statement_t *sql, sql_row_fn row, void *data);

/** sql_driver_t::read_number. @return 0 also for a number below 0 */
int sql_native_sqlite3_number(sql_call_t *c, const char *statement, apr_int64_t *number);

/** sql_driver_t::forget. SQLite does not close a connection that has a prepared statement. */
void sql_native_sqlite3_forget(sql_conn_t *conn);

#endif
