/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file native_pgsql.h
 * Uses libpq on libdbi's connections: for notices, for notifications, and for statements that stay prepared. PostgreSQL
 * takes longer to parse and plan most statements than to run them, and libdbi does not prepare statements.
 *
 * Values are sent as parameters. They have no type until PostgreSQL gives them that of the column that they are used
 * with, as it does with quoted literals. A number without quotes is a bigint.
 *
 * If a statement cannot be prepared, although it can be run, this must not abort a transaction. So statements are
 * prepared between transactions only: a form that is used again in a transaction is marked, and prepared before the
 * next one begins.
 *
 * If its tables are altered, PostgreSQL plans a statement again by itself. All results are text, so their types do not
 * change.
 */
#ifndef SQL_NATIVE_PGSQL_H
#define SQL_NATIVE_PGSQL_H

#include "sql/driver.h"

/** sql_driver_t::start. */
const char *sql_native_pgsql_start(dbi_driver driver);

/** Write the server's notices to the log. */
void sql_native_pgsql_log_notices(const sql_conn_t *conn);

/** Takes the payload of a notification, valid during the call. */
typedef void (*sql_payload_fn)(void *data, const char *payload);

/** Pass on the notifications that libpq has received. @return 0: the connection is broken */
int sql_native_pgsql_take_notifications(const sql_conn_t *conn, sql_payload_fn take, void *data);

/** sql_driver_t::run. Any result but SQL_RAN_NOT is final: the statement is not run again. */
sql_ran_e sql_native_pgsql_run(sql_conn_t *conn, const sql_statement_t *sql, sql_row_fn row, void *data);

#endif
