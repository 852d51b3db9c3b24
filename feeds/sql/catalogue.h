/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file catalogue.h
 * The tables and columns of the database. Names in statements come from here only, never from a caller.
 *
 * Each connection reads a table once and caches it until the schema changes. MariaDB and PostgreSQL have no cheap
 * number for the version of the schema. There a table is cached for a second; then one connection reads the definition
 * of the table, which is cheap, and the table stays cached while its definition is the same. The other connections of
 * the child use that result too, and those of all children if the feed has shared memory.
 *
 * To ask whether the schema has changed takes a statement, which on SQLite costs as much as a small query. A prepared
 * statement notices a change by itself: SQLite does not run it if the tables have changed. So a caller that can begin
 * again may skip the question:
 *
 *      sql_catalogue_assume(c);
 *      rv = sql_catalogue_find(c, table);                 // as it was when it was read last
 *      …rv = sql_conn_run(c, a statement made of c->table)…
 *      rv = sql_catalogue_assure(c, rv);
 *      if (rv == SQL_STALE) …nothing was done: repeat from sql_catalogue_find on, which asks now
 *
 * A statement is known to belong to the same schema as the cached tables if it ran before the schema was last asked
 * for, ran again after that, and was not prepared anew in between: the version number of a schema only increases
 * (native_sqlite3.c).
 */
#ifndef SQL_CATALOGUE_H
#define SQL_CATALOGUE_H

#include "apr_tables.h"

#include "sql/sql.h"
#include "sql/statement.h"

/** An expression whose value is a number made of the column `a` of pg_attribute and its type. */
#define SQL_PGSQL_SHAPE "a.attnum::pg_catalog.int8<<32|a.atttypid::pg_catalog.int8"

struct sql_table_t {
    const char *name;
    apr_array_header_t *columns; /**< of sql_column_t */
    /** of const char *: the columns of the primary key, in its order; empty: the table has none */
    apr_array_header_t *keys;
    const char *key; /**< the only column of the primary key; NULL: there is none, or there are several */
    int is_view;
    int key_is_serial;      /**< the database assigns keys in the order of commits, and never assigns a key twice */
    const char *not_serial; /**< if key_is_serial is 0: what to declare, as the end of a sentence */
    /** a text that changes when the table gets other columns or types; NULL: not read. PostgreSQL: a list of
     * SQL_PGSQL_SHAPE, by attnum */
    const char *shape;
    int is_checked;         /**< its names have been checked: they can be used in statements */
    const char *definition; /**< the result of sql_driver_t::define before the table was read; NULL: unknown */
    apr_time_t read_at;     /**< when it was read, or last found unchanged */
    void **note;            /**< for the feed: what it has computed from the table, in conn->pool; NULL at first */
};

/** Find the table `name`, and set c->table.
 * @return APR_SUCCESS
 *         APR_EINVAL  there is no table with exactly this name
 *         other       the catalogue could not be read, or it has a name that cannot be used
 *         Except for APR_SUCCESS the reason is set. */
apr_status_t sql_catalogue_find(sql_call_t *c, const char *name);

/** Tables have changed since they were read. Nothing was done, and no reason is set. */
#define SQL_STALE (APR_OS_START_USERERR + 1)

/** Until sql_catalogue_assure(), use tables as they were when they were read last; the first statement that finds a
 * change ends with SQL_STALE. Does nothing where asking costs nothing. Only for a connection that was just taken.
 * @param compares  the statement compares sql_table_t::shape itself, if there is one */
void sql_catalogue_assume(sql_call_t *c, int compares);
/** End what sql_catalogue_assume() began. A statement that ran has proved that the tables are unchanged. A failure may
 * have been caused by a change: then the schema is asked for.
 * @param rv  the result of the statement
 * @return rv; SQL_STALE: repeat it */
apr_status_t sql_catalogue_assure(sql_call_t *c, apr_status_t rv);

/** Ask now whether the cached tables are unchanged, unless this call has asked already.
 * @return APR_SUCCESS; SQL_STALE; others as sql_conn_query() */
apr_status_t sql_catalogue_check(sql_call_t *c);

/** Is there a table `name`? Sets no reason if there is none, and does not change c->table.
 * @return APR_SUCCESS; others as sql_conn_query() */
apr_status_t sql_catalogue_has(sql_call_t *c, const char *name, int *has);

/** Did the table `name` exist when this connection last looked for it? If it was dropped since, the next statement
 * fails. */
int sql_catalogue_knows(const sql_call_t *c, const char *name);

/** Can libdbi handle this text as a quoted name? */
int sql_catalogue_is_safe(const sql_call_t *c, const char *name);

const sql_column_t *sql_table_column(const sql_table_t *table, int i);

/** The column with exactly this name, or NULL. */
const sql_column_t *sql_table_column_named(const sql_table_t *table, const char *name);

/** Is `name` among `names`, an array of texts? */
int sql_list_has(const apr_array_header_t *names, const char *name);

/** A column of the primary key, by its position, from 0.
 *
 * As text, the key of a row is the value of that column. If there are several columns, it is their values in this
 * order, separated by commas; in each value a backslash is put before commas and backslashes. */
const char *sql_table_key_column(const sql_table_t *table, int place);

/** For a driver: `column` is at the position `place`, from 0, in the primary key. */
void sql_table_set_key(sql_table_t *table, const char *column, int place);

#endif
