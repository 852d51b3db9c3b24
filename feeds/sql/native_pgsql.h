/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file native_pgsql.h
 * What is done by libpq itself, on libdbi's connections: notices, notifications, and statements that stay
 * prepared. To parse and plan a statement takes PostgreSQL longer than to run most of them, and libdbi prepares
 * none.
 *
 * Values are sent beside the statement: each is of no type until PostgreSQL gives it that of the column that it
 * meets, as it does with literals between quotes; a number without quotes is a bigint.
 *
 * A statement that cannot be prepared, though it can be run, must not end a transaction. So it is prepared between
 * transactions only: what comes again within one is noted, and prepared before the next begins.
 *
 * When its tables are altered PostgreSQL plans it anew by itself. All of its results are text, so that they stay
 * what they were.
 */
#ifndef SQL_NATIVE_PGSQL_H
#define SQL_NATIVE_PGSQL_H

#include "sql/driver.h"

/** sql_driver_t::start. */
const char *sql_native_pgsql_start(dbi_driver driver);

/** What the server says beside its answers goes to the log. */
void sql_native_pgsql_log_notices(const sql_conn_t *conn);

/** Takes the payload of a notification, valid during the call. */
typedef void (*sql_payload_fn)(void *data, const char *payload);

/** Take the notifications that have come: libpq keeps them until then. @return 0: the connection is broken */
int sql_native_pgsql_take_notifications(const sql_conn_t *conn, sql_payload_fn take, void *data);

/** sql_driver_t::run. What it returns but SQL_RAN_NOT is as final as libdbi's answer would be: the statement is not
 * run again. */
sql_ran_e sql_native_pgsql_run(sql_conn_t *conn, const sql_statement_t *sql, sql_row_fn row, void *data);

#endif
