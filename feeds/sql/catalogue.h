/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file catalogue.h
 * The tables and columns that there are. A name gets into a statement only from here, never from a caller.
 *
 * Read once a connection and kept until the schema changes, or for a second where the database does not tell; where
 * it can say cheaply what a table is, it is asked for that each second, by one connection for all of the child, or
 * of all children where the feed has memory that they share, and the table kept as long as it is the same.
 *
 * Asking whether it has changed is a statement, and for SQLite one that costs as much as a small query. A statement
 * that stays prepared knows it by itself: SQLite does not run it once tables have changed. So who can begin again
 * may do without:
 *
 *     sql_catalogue_assume(c);
 *     rv = sql_catalogue_find(c, table);                 // as it was when it was read last
 *     …rv = sql_conn_run(c, a statement made of c->table)…
 *     rv = sql_catalogue_assure(c, rv);
 *     if (rv == SQL_STALE) …nothing has come of it: do it again from sql_catalogue_find on, which asks now
 *
 * How a statement is known to be of the same schema as the tables: it has run before the schema was last asked for, and
 * after that, and was not read again in between; and a schema's number only grows (native_sqlite3.c).
 */
#ifndef SQL_CATALOGUE_H
#define SQL_CATALOGUE_H

#include "apr_tables.h"

#include "sql/sql.h"
#include "sql/statement.h"

/** A number for the column `a` of pg_attribute and its type. */
#define SQL_PGSQL_SHAPE "a.attnum::pg_catalog.int8<<32|a.atttypid::pg_catalog.int8"

struct sql_table_t {
    const char *name;
    apr_array_header_t *columns; /**< of sql_column_t */
    apr_array_header_t *keys; /**< of const char *: the columns of the primary key, in its order; empty: it has none */
    const char *key;          /**< the only one of them; NULL: there are none, or several */
    int is_view;
    int key_is_serial;      /**< the database gives keys in the order of commits, and never one twice */
    const char *not_serial; /**< otherwise: what to declare, as the end of a sentence */
    const char *shape;      /**< another text whenever it has other columns, or of other types; NULL: no call asks.
                                  Of PostgreSQL a list of SQL_PGSQL_SHAPE, by attnum */
    int is_checked;         /**< its names can be used */
    const char *definition; /**< as sql_driver_t::define gave it before the table was read; NULL: unknown */
    apr_time_t read_at;     /**< when it was read, or found to be still the same */
    void **note;            /**< the feed's own: what it made of the table once, in conn->pool; NULL at first */
};

/** Find the table `name`; sets c->table.
 * @return APR_SUCCESS
 *         APR_EINVAL  there is no table of this very name
 *         other       the catalogue could not be read, or it has a name that cannot be used
 *         Each time a sentence was given. */
apr_status_t sql_catalogue_find(sql_call_t *c, const char *name);

/** Tables have changed since they were read: nothing was done, and no sentence given. */
#define SQL_STALE (APR_OS_START_USERERR + 1)

/** Until sql_catalogue_assure: tables are as they were when they were read last, and the first statement that finds
 * it otherwise ends with SQL_STALE. Where asking costs nothing this does nothing. Only on a connection just taken.
 * @param compares  that statement compares sql_table_t::shape itself, where there is one */
void sql_catalogue_assume(sql_call_t *c, int compares);
/** The end of that: what was run has proved it. What went wrong may have done so because tables have changed: that
 * is asked for.
 * @param rv  how it ended
 * @return rv; SQL_STALE: it is to be done again */
apr_status_t sql_catalogue_assure(sql_call_t *c, apr_status_t rv);

/** Ask now whether the tables are still those that were read, unless that was done. @return APR_SUCCESS; SQL_STALE;
 * as sql_conn_query */
apr_status_t sql_catalogue_check(sql_call_t *c);

/** Is there a table `name`? Says nothing if not, and leaves c->table alone.
 * @return APR_SUCCESS, or what sql_conn_query returned */
apr_status_t sql_catalogue_has(sql_call_t *c, const char *name, int *has);

/** Was there a table `name` when it was looked for last on this connection? If it has gone since, the next
 * statement fails. */
int sql_catalogue_knows(const sql_call_t *c, const char *name);

/** Can libdbi carry this text between quotes? */
int sql_catalogue_is_safe(const sql_call_t *c, const char *name);

const sql_column_t *sql_table_column(const sql_table_t *table, int i);

/** The column of this very name, or NULL. */
const sql_column_t *sql_table_column_named(const sql_table_t *table, const char *name);

/** Is `name` among `names`, an array of texts? */
int sql_list_has(const apr_array_header_t *names, const char *name);

/** A column of the primary key, by its place from 0 on.
 *
 * The key of a row is, as text, the value of that column; where there are several their values, in this order, with
 * commas between them, and in each a backslash before each comma and backslash. */
const char *sql_table_key_column(const sql_table_t *table, int place);

/** For a driver: `column` is the one at `place`, from 0 on, in the primary key. */
void sql_table_set_key(sql_table_t *table, const char *column, int place);

#endif
