/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file select.h
 * Rows of c->table as they are now.
 */
#ifndef DATABASE_SELECT_H
#define DATABASE_SELECT_H

#include "database.h"
#include "statement.h"

/** Run a statement of sql_select_table. @param rows  a new reference; NULL unless APR_SUCCESS */
apr_status_t database_select(sql_call_t *c, const sql_statement_t *sql, json_t **rows);

/** The `most` rows with the largest keys, in the order of their keys. */
apr_status_t database_select_newest(sql_call_t *c, int most, json_t **rows);

/** The rows with these keys, in whatever order.
 * @param keys  a list of values, without repetitions
 * @param end   appended to each SELECT: "" or to lock the rows */
apr_status_t database_select_keys(sql_call_t *c, const json_t *keys, const char *end, json_t **rows);

/** The row whose key is `key` as text, in the very form that the database gives it.
 * @param row  a new reference; NULL: there is none
 * @return APR_EINVAL  the database writes this key in another way; a sentence was given */
apr_status_t database_select_row(sql_call_t *c, const char *key, json_t **row);

/** Can changes be told of rows of c->table that have this value, a text, in `column`? Rows are announced by name, and so the value has to be
 * given as the database writes it.
 * @return APR_SUCCESS; APR_EINVAL: a sentence was given */
apr_status_t database_check_name(sql_call_t *c, const char *column, const char *value);
/** May there be rows that have another text in `column`, and are the same to the database? */
int database_has_spellings(const sql_call_t *c, const char *column, const char *value);

/** Append `t.column=value` for a value as text.
 * @return APR_SUCCESS; APR_EINVAL: a sentence was given */
apr_status_t database_append_equals(sql_call_t *c, sql_statement_t *sql, const char *column, const char *value);

/** Append `key IN (…)` for keys from `first` on. @return how many were appended */
size_t database_append_keys(sql_call_t *c, sql_statement_t *sql, const json_t *keys, size_t first);

#endif
