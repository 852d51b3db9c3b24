/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file position_pgsql.h
 * What the dialect of PostgreSQL needs of positions beside database_position_pgsql.
 */
#ifndef DATABASE_POSITION_PGSQL_H
#define DATABASE_POSITION_PGSQL_H

#include "position.h"

/** The position of a snapshot. @param told  `XMIN:XMAX:LIST` or `XMIN:XMAX:LIST/LAST` @return in `pool` */
const char *database_position_pgsql_of(const char *told, apr_pool_t *pool);

/** database_dialect_t::prune */
apr_status_t database_position_pgsql_prune(sql_call_t *c, apr_int64_t before, int most, const char *seen);

#endif
