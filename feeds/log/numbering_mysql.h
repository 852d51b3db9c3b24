/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file numbering_mysql.h
 * Numbers for the changes of MariaDB. The function is log_dialect_t::assign_numbers.
 *
 * MariaDB assigns ids before a transaction commits, so they become visible in any order, and there is no snapshot that
 * can be queried. So committed changes get numbers afterwards, in `pos`: from the tailer, or from a page that finds
 * many without a number, whichever gets the lock. A plain read finds the changes that are committed and have no number;
 * an update by primary key numbers them. No writer waits for this, and this waits for no writer.
 */
#ifndef LOG_NUMBERING_MYSQL_H
#define LOG_NUMBERING_MYSQL_H

#include "log/dialect.h"

/** The most changes that one statement numbers. */
#define LOG_NUMBERING_MYSQL_AT_ONCE "1000"

apr_status_t log_numbering_mysql_assign(sql_call_t *c, int seconds, const char *known);

#endif
