/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file query_conditions.h
 * The tables of a simple query, and what its WHERE requires of their columns. It uses no database.
 *
 *     SELECT b.id, u.name FROM bids b JOIN users u ON u.id = b.user_id WHERE b.item_id = :item AND b.state = 'open'
 *     ORDER BY b.id
 *
 * A row of `bids` does not concern this query unless its item_id is the parameter and its state is 'open'. Only what is
 * certain is read: a query with one SELECT, whose FROM has tables by their names, and those conditions of its WHERE
 * that are joined by AND and consist of a column, an equals sign, and a text in single quotes, a whole number or a
 * parameter. This is also true for outer joins: a row that does not fulfil the condition is in no row of the result,
 * nor is a row that an outer join makes because it is missing.
 */
#ifndef DATABASE_QUERY_CONDITIONS_H
#define DATABASE_QUERY_CONDITIONS_H

#include "apr_pools.h"
#include "apr_tables.h"

/** A table in FROM. */
typedef struct database_source_t {
    const char *table;
    const char *alias; /**< the name that columns are qualified with */
} database_source_t;

typedef enum database_demand_e {
    DATABASE_DEMAND_NUMBER,
    DATABASE_DEMAND_TEXT,
    DATABASE_DEMAND_PARAMETER
} database_demand_e;

/** A condition. */
typedef struct database_demand_t {
    const char *alias; /**< NULL: the column is not qualified */
    const char *column;
    database_demand_e kind;
    const char *value; /**< digits, a text, or the name of a parameter */
} database_demand_t;

typedef struct database_conditions_t {
    apr_array_header_t *sources; /**< of database_source_t */
    apr_array_header_t *demands; /**< of database_demand_t */
} database_conditions_t;

/** Names are as in the query; unquoted names are in small letters if `folds`.
 * @param quote  the quote of names: `"` or a backtick
 * @return 0: the query has no condition that is certain. Otherwise there is at least one. In `pool` */
int database_conditions_read(database_conditions_t *conditions, const char *sql, char quote, int folds,
                             apr_pool_t *pool);

#endif
