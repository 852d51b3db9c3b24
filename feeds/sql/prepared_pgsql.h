/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file prepared_pgsql.h
 * Statements of PostgreSQL that stay prepared, past libdbi, which has none: to parse and plan them takes PostgreSQL longer than to
 * run most of them.
 *
 * libpq is reached through libdbi's module, which is linked with it, on the module's own connections. Values are sent beside the
 * statement: each is of no type until PostgreSQL gives it that of the column that it meets, as it does with literals between quotes;
 * a number without quotes is a bigint.
 *
 * A statement that cannot be prepared, though it can be run, must not end a transaction. So it is prepared between transactions
 * only: what comes again within one is noted, and prepared before the next begins.
 *
 * When its tables are altered PostgreSQL plans it anew by itself. All of its results are text, so that they stay what they were.
 */
#ifndef SQL_PREPARED_PGSQL_H
#define SQL_PREPARED_PGSQL_H

#include <dbi/dbi.h>

#include "driver.h"
#include "statement.h"

/** Find what is needed in libdbi's module. Before any connection is made; again, for another feed, does no harm. */
void sql_prepared_pgsql_start(dbi_driver driver);

/** sql_driver_t::run. What it returns but SQL_RAN_NOT is as final as libdbi's answer would be: the statement is not run again. */
sql_ran_e sql_prepared_pgsql_run(sql_conn_t *conn, const sql_statement_t *sql, sql_row_fn row, void *data);

#endif
