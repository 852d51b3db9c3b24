/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file arguments.h
 * The arguments of a call. They come from a browser, a page or another module, and are not trusted.
 */
#ifndef DATABASE_ARGUMENTS_H
#define DATABASE_ARGUMENTS_H

#include "database/model/database.h"
#include "sql/statement.h"

/**
 * Check that all arguments are in `allowed` (which ends with NULL), and that the first of these is given and is a text.
 * @param first  its text, borrowed from the arguments; it has not been looked up
 * @return APR_SUCCESS; APR_EINVAL: otherwise, and the reason is set
 */
apr_status_t database_arguments_check(sql_call_t *c, const char *const *allowed, const char **first);

/** The required argument `name`, as text.
 * @return APR_SUCCESS; APR_EINVAL: it is missing or wrong, and the reason is set */
apr_status_t database_argument_text(sql_call_t *c, const char *name, const char **text);

/** `order_by`: append its ORDER BY, with the key as the last column; if it is missing, an ORDER BY of the key.
 * @return APR_SUCCESS; APR_EINVAL: it is wrong, and the reason is set */
apr_status_t database_argument_order(sql_call_t *c, sql_statement_t *sql);

/** Which rows of the result are wanted. */
typedef struct database_window_t {
    int limit;  /**< 0: not given */
    int offset; /**< how many rows are skipped */
} database_window_t;

/** `limit` and `offset`. @return APR_SUCCESS; APR_EINVAL: one is wrong, and the reason is set */
apr_status_t database_argument_window(sql_call_t *c, database_window_t *window);
/** Append them. If there is no limit, the parameter `rows` of the feed is the limit. */
void database_append_window(sql_call_t *c, sql_statement_t *sql, const database_window_t *window);

/** The texts of a list, or the parts of a text between commas. @return a new reference; NULL: it is something else, or
 * empty */
json_t *database_argument_list(const json_t *value);

/** Set the reason that c->table has no such column. @return APR_EINVAL */
apr_status_t database_argument_no_column(sql_call_t *c, const char *argument, const char *name);

/** `where`, which is required: append the WHERE (filter.h): each condition is `COLUMN` (equal; null means NULL) or
 * `COLUMN__OPERATOR`.
 * @return APR_SUCCESS; APR_EINVAL: it is missing or wrong, and the reason is set */
apr_status_t database_argument_where(sql_call_t *c, sql_statement_t *sql);

/** `values`: append `(columns)VALUES(values)`.
 * @return APR_SUCCESS; APR_EINVAL: it is missing or wrong, and the reason is set */
apr_status_t database_argument_values(sql_call_t *c, sql_statement_t *sql);

/** `values`: append ` SET column=value,…`.
 * @return APR_SUCCESS; APR_EINVAL: it is missing or wrong, and the reason is set */
apr_status_t database_argument_set(sql_call_t *c, sql_statement_t *sql);

/** `key` or `where`, one of which is required: append the WHERE.
 * @return APR_SUCCESS; APR_EINVAL: it is missing or wrong, and the reason is set */
apr_status_t database_argument_which(sql_call_t *c, sql_statement_t *sql);

#endif
