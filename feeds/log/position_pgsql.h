/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file position_pgsql.h
 * What the dialect of PostgreSQL needs of positions in addition to log_position_pgsql.
 */
#ifndef LOG_POSITION_PGSQL_H
#define LOG_POSITION_PGSQL_H

#include "log/position.h"

/** The position of a snapshot. @param told  `XMIN:XMAX:LIST` or `XMIN:XMAX:LIST/LAST` @return in `pool` */
const char *log_position_pgsql_of(const char *told, apr_pool_t *pool);

/** log_dialect_t::prune */
apr_status_t log_position_pgsql_prune(sql_call_t *c, apr_int64_t before, int most, const char *seen);

#endif
