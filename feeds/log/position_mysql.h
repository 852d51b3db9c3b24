/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file position_mysql.h
 * What the dialect of MariaDB needs of positions in addition to log_position_mysql. The last assigned number is in
 * vault_watched, in a row whose table does not exist.
 */
#ifndef LOG_POSITION_MYSQL_H
#define LOG_POSITION_MYSQL_H

#include "log/position.h"

/** The position of a snapshot, as an expression. */
#define LOG_POSITION_MYSQL_NOW                                                                                         \
    "CONCAT(COALESCE((SELECT pruned FROM vault_watched WHERE tbl=''),'0'),';',"                                        \
    "COALESCE((SELECT GROUP_CONCAT(id ORDER BY id) FROM vault_changes WHERE pos IS NULL),''))"

/** Is the list of ids so long that changes should be numbered before it becomes a position? */
int log_position_mysql_is_long(const char *told);

/** log_dialect_t::prune */
apr_status_t log_position_mysql_prune(sql_call_t *c, apr_int64_t before, int most, const char *seen);

#endif
