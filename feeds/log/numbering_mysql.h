/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file numbering_mysql.h
 * Numbers for the changes of MariaDB. The function is log_dialect_t::assign_numbers.
 *
 * Ids are taken before a transaction commits, in any order, and there is no snapshot to be asked for. So committed
 * changes are numbered afterwards, in `pos`, by the tailer, or by a page that finds many, whichever gets the lock:
 * a plain read finds those that are committed and have none, an update by primary key numbers them. No writer waits
 * for that, and none is waited for.
 */
#ifndef LOG_NUMBERING_MYSQL_H
#define LOG_NUMBERING_MYSQL_H

#include "log/dialect.h"

/** Changes that are numbered by one statement. */
#define LOG_NUMBERING_MYSQL_AT_ONCE "1000"

apr_status_t log_numbering_mysql_assign(sql_call_t *c, int seconds, const char *known);

#endif
