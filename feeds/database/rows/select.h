/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file select.h
 * Selects the current rows of c->table.
 */
#ifndef DATABASE_SELECT_H
#define DATABASE_SELECT_H

#include "database/model/database.h"
#include "database/rows/keys.h"
#include "sql/statement.h"

/** Run a statement of sql_select_table(). @param rows  a new reference; NULL unless APR_SUCCESS */
apr_status_t database_select(sql_call_t *c, const sql_statement_t *sql, json_t **rows);

/** The `most` rows with the largest keys, in the order of their keys. */
apr_status_t database_select_newest(sql_call_t *c, int most, json_t **rows);

/** The rows with these keys, in any order.
 * @param keys  a list of lists of values (database_key_values), without duplicates
 * @param end   appended to each SELECT: "", or a text that locks the rows */
apr_status_t database_select_keys(sql_call_t *c, const json_t *keys, const char *end, json_t **rows);

/** The row with this key, which must be written exactly as the database writes it.
 * @param row  a new reference; NULL: there is none
 * @return APR_EINVAL  the database writes this key differently; the reason is set */
apr_status_t database_select_row(sql_call_t *c, const database_key_t *key, json_t **row);

/** Can a page be notified of rows of c->table with these values? Interests have values in their names, so each value
 * must be written as the database writes it.
 * @return APR_SUCCESS; APR_EINVAL: one is not, and the reason is set */
apr_status_t database_check_name(sql_call_t *c, const database_key_t *key);
/** May there be rows with other texts in these columns that the database treats as equal? */
int database_has_spellings(const sql_call_t *c, const database_key_t *key);

/** Append the condition that rows of c->table AS t have these values.
 * @return APR_SUCCESS; APR_EINVAL: a value does not fit its column, and the reason is set */
apr_status_t database_append_equals(sql_call_t *c, sql_statement_t *sql, const database_key_t *key);

/** Append the condition that a row of c->table has in `columns` one of the keys from `first` on.
 * @return how many keys were appended */
size_t database_append_keys(sql_call_t *c, sql_statement_t *sql, const apr_array_header_t *columns, const json_t *keys,
                            size_t first);

#endif
