/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file arguments.h
 * The arguments of a call. They come from a browser, a page or another module: nothing in them is believed.
 */
#ifndef DATABASE_ARGUMENTS_H
#define DATABASE_ARGUMENTS_H

#include "database/model/database.h"
#include "sql/statement.h"

/** Refuse arguments that are not in `allowed` (which ends with NULL), and a missing or unfit one of those that
 * comes first.
 * @param first  what that one names, borrowed from the arguments: not yet looked up
 * @return APR_SUCCESS; APR_EINVAL: a sentence was given */
apr_status_t database_arguments_check(sql_call_t *c, const char *const *allowed, const char **first);

/** The argument `name`, which must be given, as text.
 * @return APR_SUCCESS; APR_EINVAL: a sentence was given */
apr_status_t database_argument_text(sql_call_t *c, const char *name, const char **text);

/** `order_by`: append the ORDER BY it asks for, with the key as its last column; without it, one by the key.
 * @return APR_SUCCESS; APR_EINVAL: a sentence was given */
apr_status_t database_argument_order(sql_call_t *c, sql_statement_t *sql);

/** Which of the rows, in their order. */
typedef struct database_window_t {
    int limit;  /**< 0: not given */
    int offset; /**< so many are passed over */
} database_window_t;

/** `limit` and `offset`. @return APR_SUCCESS; APR_EINVAL: a sentence was given */
apr_status_t database_argument_window(sql_call_t *c, database_window_t *window);
/** Append them; without a limit, it is the feed's `rows`. */
void database_append_window(sql_call_t *c, sql_statement_t *sql, const database_window_t *window);

/** The texts of a list, or those between the commas of a text. @return a new reference; NULL: it is something else,
 * or empty */
json_t *database_argument_list(const json_t *value);

/** Say that c->table has no such column. @return APR_EINVAL */
apr_status_t database_argument_no_column(sql_call_t *c, const char *argument, const char *name);

/** `where`, which must be given: append the WHERE (filter.h): each condition is `COLUMN` (equal; null means NULL)
 * or `COLUMN__OPERATOR`.
 * @return APR_SUCCESS; APR_EINVAL: a sentence was given */
apr_status_t database_argument_where(sql_call_t *c, sql_statement_t *sql);

/** `values`: append `(columns)VALUES(values)`.
 * @return APR_SUCCESS; APR_EINVAL: a sentence was given */
apr_status_t database_argument_values(sql_call_t *c, sql_statement_t *sql);

/** `values`: append ` SET column=value,…`.
 * @return APR_SUCCESS; APR_EINVAL: a sentence was given */
apr_status_t database_argument_set(sql_call_t *c, sql_statement_t *sql);

/** `key` or `where`, one of them: append the WHERE.
 * @return APR_SUCCESS; APR_EINVAL: a sentence was given */
apr_status_t database_argument_which(sql_call_t *c, sql_statement_t *sql);

#endif
