/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file filter.h
 * The conditions of a filter: the argument `where`, as SQL, and for rows that are here already.
 *
 * Only the database knows what it takes for equal or smaller. But where nothing else is possible it need not be asked:
 * whole numbers in a column of integers, NULL, true and false, and texts in a column where each text has one spelling.
 */
#ifndef DATABASE_FILTER_H
#define DATABASE_FILTER_H

#include "database/model/database.h"
#include "sql/statement.h"

typedef struct database_filter_t {
    apr_array_header_t *conditions; /**< of a type of filter.c; all of them have to hold */
} database_filter_t;

/** Read `where` for c->table: each condition is `COLUMN` (equal; null means NULL) or `COLUMN__OPERATOR`. Without it
 * there are none.
 * @return APR_SUCCESS; APR_EINVAL: a sentence was given */
apr_status_t database_filter_read(sql_call_t *c, database_filter_t *filter);

/** Append ` WHERE` and the conditions; without any, nothing.
 * @return APR_SUCCESS; APR_EINVAL: a value does not fit; a sentence was given */
apr_status_t database_filter_append(sql_call_t *c, const database_filter_t *filter, sql_statement_t *sql);

typedef enum database_match_e { DATABASE_MATCH_NO, DATABASE_MATCH_YES, DATABASE_MATCH_UNSURE } database_match_e;

/** Do all conditions hold for a row of c->table, as its image has it? */
database_match_e database_filter_match(const sql_call_t *c, const database_filter_t *filter, const json_t *row);

#endif
