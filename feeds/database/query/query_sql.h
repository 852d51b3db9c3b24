/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file query_sql.h
 * The statement that runs a query of the model.
 */
#ifndef DATABASE_QUERY_SQL_H
#define DATABASE_QUERY_SQL_H

#include "sql/sql.h"
#include "sql/statement.h"

/** The value that a call gives for a parameter. Pages give texts, whatever the parameter's type.
 * @param type   the type that the model declares
 * @return a new reference; NULL: it is not of that type */
json_t *database_query_value(const json_t *given, const char *type);

/** The names of the result's columns, ending with NULL. In c->pool. */
const char *const *database_query_columns(sql_call_t *c, const json_t *query);

/** Can libdbi carry the query at all? Asked before any statement is made of it.
 * @return APR_SUCCESS; APR_EINVAL: a sentence was given */
apr_status_t database_query_check(sql_call_t *c, const json_t *query);

/** Append the whole statement, with the values of this call. Its cells are the columns of the result.
 * @return APR_SUCCESS; APR_EINVAL: a parameter is missing or wrong; a sentence was given */
apr_status_t database_query_append(sql_call_t *c, const json_t *query, sql_statement_t *sql);

/** Append the same statement without values: for a database that is asked what the statement reads. */
void database_query_append_form(sql_call_t *c, const json_t *query, sql_statement_t *sql);

#endif
