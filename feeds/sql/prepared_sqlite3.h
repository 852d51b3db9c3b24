/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file prepared_sqlite3.h
 * Statements of SQLite that stay prepared, past libdbi, which has none: SQLite spends more on reading most of the feeds'
 * statements than on running them.
 *
 * Each connection keeps those that it ran last. What tells them apart is their text with a question mark for each value, which
 * is bound; so values are never a part of what SQLite reads.
 */
#ifndef SQL_PREPARED_SQLITE3_H
#define SQL_PREPARED_SQLITE3_H

#include <dbi/dbi.h>

#include "driver.h"
#include "statement.h"

/** Find what is needed in libdbi's module. Before any connection is made; again, for another feed, does no harm. */
void sql_prepared_sqlite3_start(dbi_driver driver);

/** sql_driver_t::run. What it returns but SQL_RAN_NOT is as final as libdbi's answer would be: the statement is not run again. */
sql_ran_e sql_prepared_sqlite3_run(sql_conn_t *conn, const sql_statement_t *sql, sql_row_fn row, void *data);

/** sql_driver_t::form. Of a statement with values. */
const char *sql_prepared_sqlite3_form(const sql_statement_t *sql, apr_pool_t *pool);

/** sql_driver_t::read_number. @return 0 also for a number below 0 */
int sql_prepared_sqlite3_number(sql_call_t *c, const char *statement, apr_int64_t *number);

/** sql_driver_t::forget. SQLite closes no connection that has a prepared statement. */
void sql_prepared_sqlite3_forget(sql_conn_t *conn);

#endif
