/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file prepared_mysql.h
 * Statements of MariaDB that stay prepared, past libdbi, which has none: to read them takes MariaDB as long as to run most of them.
 *
 * They are prepared and run by SQL of their own, PREPARE and EXECUTE … USING, whose values are the literals that they would be in the
 * text: no value is read in another way than there. A statement that is prepared on the connection's library instead would cost the
 * server a tenth less, but only by structures of that library's.
 *
 * MariaDB's library is reached through libdbi's module, which is linked with it, on the module's own connections. So are BEGIN and COMMIT,
 * which MariaDB does not prepare, and the rows of what it does: libdbi would copy each cell.
 *
 * When its tables are altered MariaDB prepares a statement anew by itself.
 */
#ifndef SQL_PREPARED_MYSQL_H
#define SQL_PREPARED_MYSQL_H

#include <dbi/dbi.h>

#include "driver.h"
#include "statement.h"

/** Find what is needed in libdbi's module. Before any connection is made; again, for another feed, does no harm. */
void sql_prepared_mysql_start(dbi_driver driver);

/** sql_driver_t::run. What it returns but SQL_RAN_NOT is as final as libdbi's answer would be: the statement is not run again. */
sql_ran_e sql_prepared_mysql_run(sql_conn_t *conn, const sql_statement_t *sql, sql_row_fn row, void *data);

#endif
