/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file query_sql.h
 * Builds the statement that runs a query of the model.
 */
#ifndef DATABASE_QUERY_SQL_H
#define DATABASE_QUERY_SQL_H

#include "sql/sql.h"
#include "sql/statement.h"

/** The value that a call passes for a parameter. Pages pass texts for parameters of all types.
 * @param type   the type that the model declares
 * @return a new reference; NULL: the value is not of that type */
json_t *database_query_value(const json_t *given, const char *type);

/** The names of the result's columns, ending with NULL. In c->pool. */
const char *const *database_query_columns(sql_call_t *c, const json_t *query);

/** Can libdbi handle the query? Call it before any statement is made of the query.
 * @return APR_SUCCESS; APR_EINVAL: it cannot, and the reason is set */
apr_status_t database_query_check(sql_call_t *c, const json_t *query);

/** Append the whole statement, with the values of this call. Its cells are the columns of the result.
 * @return APR_SUCCESS; APR_EINVAL: a parameter is missing or wrong, and the reason is set */
apr_status_t database_query_append(sql_call_t *c, const json_t *query, sql_statement_t *sql);

/** Append the statement without values, to ask the database what it reads. */
void database_query_append_form(sql_call_t *c, const json_t *query, sql_statement_t *sql);

#endif
