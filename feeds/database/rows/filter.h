/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file filter.h
 * The conditions of a filter, from the argument `where`: as SQL, and evaluated here for rows that are already known.
 *
 * Only the database knows which values it treats as equal or smaller. It need not be asked where there is only one
 * possibility: for whole numbers in a column of integers, for NULL, true and false, and for texts in a column where
 * each value has one spelling.
 */
#ifndef DATABASE_FILTER_H
#define DATABASE_FILTER_H

#include "database/model/database.h"
#include "sql/statement.h"

typedef struct database_filter_t {
    apr_array_header_t *conditions; /**< of a type of filter.c; all of them must hold */
} database_filter_t;

/** Read `where` for c->table: each condition is `COLUMN` (equal; null means NULL) or `COLUMN__OPERATOR`. If it is
 * missing, there are no conditions.
 * @return APR_SUCCESS; APR_EINVAL: it is wrong, and the reason is set */
apr_status_t database_filter_read(sql_call_t *c, database_filter_t *filter);

/** Append ` WHERE` and the conditions; nothing if there are none.
 * @return APR_SUCCESS; APR_EINVAL: a value does not fit its column, and the reason is set */
apr_status_t database_filter_append(sql_call_t *c, const database_filter_t *filter, sql_statement_t *sql);

typedef enum database_match_e { DATABASE_MATCH_NO, DATABASE_MATCH_YES, DATABASE_MATCH_UNSURE } database_match_e;

/** Do all conditions hold for a row of c->table, given as its image? */
database_match_e database_filter_match(const sql_call_t *c, const database_filter_t *filter, const json_t *row);

#endif
