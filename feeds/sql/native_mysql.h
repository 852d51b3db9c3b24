/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file native_mysql.h
 * What is done by MariaDB's library itself, on libdbi's connections: statements that stay prepared. To read them
 * takes MariaDB as long as to run most of them, and libdbi prepares none.
 *
 * They are prepared and run by SQL of their own, PREPARE and EXECUTE ... USING, whose values are the literals that
 * they would be in the text: no value is read in another way than there. BEGIN and COMMIT, which MariaDB does not
 * prepare, go past libdbi as well, and so do rows: libdbi would copy each cell.
 *
 * When its tables are altered MariaDB prepares a statement anew by itself.
 */
#ifndef SQL_NATIVE_MYSQL_H
#define SQL_NATIVE_MYSQL_H

#include "sql/driver.h"

/** sql_driver_t::start. */
const char *sql_native_mysql_start(dbi_driver driver);

/** sql_driver_t::run. What it returns but SQL_RAN_NOT is as final as libdbi's answer would be: the statement is not
 * run again. */
sql_ran_e sql_native_mysql_run(sql_conn_t *conn, const sql_statement_t *sql, sql_row_fn row, void *data);

#endif
