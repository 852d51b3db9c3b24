/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file arguments.h
 * The arguments of a call. They come from a browser, a page or another module: nothing in them is believed.
 */
#ifndef DATABASE_ARGUMENTS_H
#define DATABASE_ARGUMENTS_H

#include "database.h"
#include "statement.h"

/** Refuse arguments that are not in `allowed` (which ends with NULL), and a missing or unfit one of those that comes first.
 * @param first  what that one names, borrowed from the arguments: not yet looked up
 * @return APR_SUCCESS; APR_EINVAL: a sentence was given */
apr_status_t database_arguments_check(sql_call_t *c, const char *const *allowed, const char **first);

/** The argument `name`, which must be given, as text.
 * @return APR_SUCCESS; APR_EINVAL: a sentence was given */
apr_status_t database_argument_text(sql_call_t *c, const char *name, const char **text);

/** `order`: append the ORDER BY it asks for; without it, one by the key.
 * @return APR_SUCCESS; APR_EINVAL: a sentence was given */
apr_status_t database_argument_order(sql_call_t *c, sql_statement_t *sql);

/** `where`: append the WHERE: every column equal to its value, null meaning NULL.
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
