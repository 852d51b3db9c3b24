/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file native_mysql.h
 * Uses MariaDB's client library on libdbi's connections, for statements that stay prepared. MariaDB takes as long to
 * parse most statements as to run them, and libdbi does not prepare statements.
 *
 * They are prepared and run by the SQL statements PREPARE and EXECUTE ... USING, with values as literals. So each value
 * is read in the same way as in a plain statement. BEGIN and COMMIT, which MariaDB does not prepare, do not go through
 * libdbi either. Nor do rows, since libdbi would copy each cell.
 *
 * If its tables are altered, MariaDB prepares a statement again by itself.
 */
#ifndef SQL_NATIVE_MYSQL_H
#define SQL_NATIVE_MYSQL_H

#include "sql/driver.h"

/** sql_driver_t::start. */
const char *sql_native_mysql_start(dbi_driver driver);

/** sql_driver_t::run. Any result but SQL_RAN_NOT is final: the statement is not run again. */
sql_ran_e sql_native_mysql_run(sql_conn_t *conn, const sql_statement_t *sql, sql_row_fn row, void *data);

#endif
