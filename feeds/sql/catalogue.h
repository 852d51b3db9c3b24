/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file catalogue.h
 * The tables and columns that there are. A name gets into a statement only from here, never from a caller.
 *
 * Read once a connection and kept until the schema changes, or for a second where the database does not tell.
 */
#ifndef SQL_CATALOGUE_H
#define SQL_CATALOGUE_H

#include "apr_tables.h"

#include "sql.h"
#include "statement.h"

struct sql_table_t {
    const char *name;
    apr_array_header_t *columns; /**< of sql_column_t */
    const char *key;             /**< the primary key if that is one column, else NULL */
    int is_view;
    int key_is_serial;      /**< the database gives keys in the order of commits, and never one twice */
    const char *not_serial; /**< otherwise: what to declare, as the end of a sentence */
};

/** Find the table `name`; sets c->table.
 * @return APR_SUCCESS
 *         APR_EINVAL  there is no table of this very name
 *         other       the catalogue could not be read, or it has a name that cannot be used
 *         Each time a sentence was given. */
apr_status_t sql_catalogue_find(sql_call_t *c, const char *name);

/** Is there a table `name`? Says nothing if not, and leaves c->table alone.
 * @return APR_SUCCESS, or what sql_conn_query returned */
apr_status_t sql_catalogue_has(sql_call_t *c, const char *name, int *has);

const sql_column_t *sql_table_column(const sql_table_t *table, int i);

/** The column of this very name, or NULL. */
const sql_column_t *sql_table_column_named(const sql_table_t *table, const char *name);

#endif
