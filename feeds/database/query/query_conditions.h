/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file query_conditions.h
 * The tables of a simple query, and what its WHERE demands of their columns. No database here.
 *
 *     SELECT b.id, u.name FROM bids b JOIN users u ON u.id = b.user_id WHERE b.item_id = :item AND b.state = 'open'
 *     ORDER BY b.id
 *
 * says that a row of `bids` is of no interest unless its item_id is the parameter and its state is 'open'. Only
 * what is certain is read: a query of one SELECT, whose FROM has tables by their names, and of its WHERE those
 * conditions that are joined by AND and are a column, an equals sign, and a text in single quotes, a whole
 * number or a parameter. This is also true of outer joins: a row that misses the condition is in no row of the
 * result, nor is a row that an outer join made because it was missing.
 */
#ifndef DATABASE_QUERY_CONDITIONS_H
#define DATABASE_QUERY_CONDITIONS_H

#include "apr_pools.h"
#include "apr_tables.h"

/** A table in FROM. */
typedef struct database_source_t {
    const char *table;
    const char *alias; /**< how columns name it */
} database_source_t;

typedef enum database_demand_e {
    DATABASE_DEMAND_NUMBER,
    DATABASE_DEMAND_TEXT,
    DATABASE_DEMAND_PARAMETER
} database_demand_e;

/** A condition. */
typedef struct database_demand_t {
    const char *alias; /**< NULL: the column stands alone */
    const char *column;
    database_demand_e kind;
    const char *value; /**< digits, the text, or the name of the parameter */
} database_demand_t;

typedef struct database_conditions_t {
    apr_array_header_t *sources; /**< of database_source_t */
    apr_array_header_t *demands; /**< of database_demand_t */
} database_conditions_t;

/** Names are as the query has them; those without quotes in small letters if `folds`.
 * @param quote  around names: `"` or a backtick
 * @return 0: this query demands nothing that is certain. Else there is at least one demand. In `pool` */
int database_conditions_read(database_conditions_t *conditions, const char *sql, char quote, int folds,
                             apr_pool_t *pool);

#endif
