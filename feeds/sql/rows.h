/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rows.h
 * Results to JSON: each row an object by column; integers whole, texts as UTF-8, NULL as null, blobs as base64.
 */
#ifndef SQL_ROWS_H
#define SQL_ROWS_H

#include <dbi/dbi.h>
#include <jansson.h>

#include "sql/sql.h"
#include "sql/statement.h"

/** One cell, in the format of driver.h. Bytes that are not UTF-8, and NULs, become U+FFFD; an infinite number becomes
 * null.
 * @return a new reference; NULL: out of memory */
json_t *sql_cell_json(const char *cell);

/** One row. @param names  the names of its cells; ends with NULL @return a new reference; NULL: out of memory */
json_t *sql_row_json(const char *const *names, const char *const *cells);

/** The names of the columns of c->table; ends with NULL. In c->pool. */
const char *const *sql_column_names(sql_call_t *c);

/** Run a statement whose result consists of cells (sql_cell), and collect its rows.
 * @param names  the names of the cells, in their order; ends with NULL. NULL: the names in its formats
 * @param most   the most rows; later rows are ignored
 * @param rows   a new reference to an array that may be empty; NULL unless APR_SUCCESS
 * @return as sql_conn_query() */
apr_status_t sql_fetch(sql_call_t *c, const sql_statement_t *sql, const char *const *names, int most, json_t **rows);

/** Rows of all columns of c->table, which are the cells of sql_select_table.
 * @param backward  return the rows in reverse order */
apr_status_t sql_fetch_table(sql_call_t *c, const sql_statement_t *sql, int most, int backward, json_t **rows);

/** The JSON text of a value. @param flags  of json_dumps @return in `pool`; "": there is no memory for it */
const char *sql_json_text(const json_t *value, size_t flags, apr_pool_t *pool);

/** A value as text, as in interests and keys: a text as it is, anything else in JSON. @return in `pool`; NULL for null
 * and NULL */
const char *sql_text_of(const json_t *value, apr_pool_t *pool);

#endif
