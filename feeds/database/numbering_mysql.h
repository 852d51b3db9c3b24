/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file numbering_mysql.h
 * Numbers for the changes of MariaDB. Each function is that of database_dialect_t which has its name.
 *
 * Ids are taken before a transaction commits, in any order, and there is no snapshot to be asked for. So committed changes
 * are numbered afterwards, in `pos`, by who watches, or looks and finds many, and gets the lock: a plain read finds those that are
 * committed and have none, an update by primary key numbers them. No writer waits for that, and none is waited for.
 */
#ifndef DATABASE_NUMBERING_MYSQL_H
#define DATABASE_NUMBERING_MYSQL_H

#include "dialect.h"

/** Changes that are numbered by one statement. */
#define DATABASE_NUMBERING_MYSQL_AT_ONCE "1000"

apr_status_t database_numbering_mysql_settle(sql_call_t *c, int patience);
int database_numbering_mysql_is_due(const char *told, apr_int64_t age, int look);

#endif
