/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file numbering_mysql.h
 * Numbers for the changes of MariaDB. The function is database_dialect_t::settle.
 *
 * Ids are taken before a transaction commits, in any order, and there is no snapshot to be asked for. So committed changes
 * are numbered afterwards, in `pos`, by the tailer, or by a page that finds many, whichever gets the lock: a plain read finds those that are
 * committed and have none, an update by primary key numbers them. No writer waits for that, and none is waited for.
 */
#ifndef DATABASE_NUMBERING_MYSQL_H
#define DATABASE_NUMBERING_MYSQL_H

#include "dialect.h"

/** Changes that are numbered by one statement. */
#define DATABASE_NUMBERING_MYSQL_AT_ONCE "1000"

apr_status_t database_numbering_mysql_settle(sql_call_t *c, int patience, const char *known);

#endif
