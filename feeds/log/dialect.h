/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file dialect.h
 * What watching a table needs of each kind of database: the change table, the triggers that fill it, and its images of
 * rows.
 *
 * The feed's own tables, made by `vaultctl watch`:
 *
 *   vault_changes  one row for each change of a row: id, tbl, op (I, U, D; W, without a row: it is watched anew; A, of
 *                  PostgreSQL, with tbl "": some commit did not wait for the disk), row_key (the key
 *                  as text), old_row and new_row (images of the row), at (seconds since 1970), and what the dialect needs
 *   vault_watched  one row for each watched table: tbl, epoch (the id of the watching, another one each time the table
 *                  is watched), pruned (the position up to which its changes are gone), columns (those that the
 *                  triggers know)
 *   vault_results  results of queries that pages have seen, by digest
 *
 * An image, once read, is a JSON object of cells (feeds/sql/driver.h) by column, so that a row has one form wherever it
 * comes from.
 *
 * Which changes a reader has seen is a position (position.h).
 */
#ifndef LOG_DIALECT_H
#define LOG_DIALECT_H

#include "log/change_log.h"
#include "log/position.h"
#include "sql/catalogue.h"
#include "sql/statement.h"

typedef struct log_dialect_t {
    const char *name; /**< of the driver */
    const log_position_type_t *position;
    const char *const *tables; /**< statements that make the feed's own tables unless they are there; ends with NULL */
    const char *order;         /**< the expression that a batch is ordered by, with c as alias of vault_changes */
    int adapts;                /**< the triggers take columns that come and go as they are */
    /** What ends an INSERT into a table that has `used`, so that it does nothing if the row is there. */
    const char *unless_there;
    /** Where statements that make triggers end the transaction: how a statement begins that replaces a row at
     * once. NULL: they do not. */
    const char *replace;

    /** The statements that make and drop the triggers of a table, pushed onto `statements` (of const char *).
     * What is there already is replaced. */
    void (*watch)(sql_call_t *c, const sql_table_t *table, apr_array_header_t *statements);
    void (*unwatch)(sql_call_t *c, const sql_table_t *table, apr_array_header_t *statements);

    /** Before a snapshot begins: make positions short. NULL: they are.
     * @param seconds  wait at most this long for another process that does it
     * @param known     a position that the caller has kept; NULL: none
     * @return as sql_conn_query; APR_EINCOMPLETE the database has lost changes that `known` contains, and nothing
     * was done */
    apr_status_t (*assign_numbers)(sql_call_t *c, int seconds, const char *known);
    /** With `assign_numbers`: is what `now` told so long that it cannot be kept before they are made short? */
    int (*is_long)(const char *told);
    /** An expression that tells where a snapshot is, as text that is never NULL. NULL where there is `now_of`. */
    const char *now;
    /** The same for the tailer: of all changes that it reads. */
    const char *now_of_all;
    /** An expression that is another text whenever other tables are watched, or one is watched anew. May be NULL if
     * none is. */
    const char *watchings;
    /** An expression that is the largest of w.pruned, as text. May be NULL if nothing was pruned. */
    const char *pruned;
    /** A condition on vault_changes AS c: changes that the tailer reads now; the others it reads later. NULL: all. */
    const char *is_tailed;
    int is_by_table; /**< changes are found by the table that they are of: no index has them in their order */
    /** An expression that is log_change_id_t::number. */
    const char *number;
    /** The same for a reader of one table, with what a position needs to outlive a crash of the database. NULL:
     * `now`. */
    const char *(*now_of)(const sql_statement_t *sql, const sql_table_t *table);
    /** The expression of the id of a watching: w.epoch, and whatever ends the validity of positions.
     * NULL: w.epoch itself. */
    const char *watch_id;
    /** A statement that tells the incarnation of the database: another text after each crash and each start of the
     * server. NULL: the database does not tell it. */
    const char *incarnation;
    /** The position of what `now` told. In `pool`. NULL: it is one already. */
    const char *(*position_of)(const char *told, apr_pool_t *pool);
    /** A statement that notifies the tailers when the transaction commits. NULL: the database cannot. */
    const char *notify;
    /** What the name of the database's file ends with, as that of a file beside it to which every commit writes.
     * NULL: there is none. */
    const char *journal;
    /** Remove changes that are older than `before` (seconds since 1970), and all but the last `most`, but none that
     * `seen`, a position, does not contain; each table's `pruned` says up to where. */
    apr_status_t (*prune)(sql_call_t *c, apr_int64_t before, int most, const char *seen);

    /** Have this new connection told of every commit that changed a watched table. NULL: it has to be asked. */
    apr_status_t (*listen)(sql_call_t *c);
    /** Take the notifications that this connection has received. @return 1: of a change that `position` does not
     * contain, or of an unknown one */
    int (*take_notifications)(const sql_conn_t *conn, const char *position);
    /** The expression of w.columns, which is "" where the table has other columns than when it was read last: then
     * images, which are made of those, cannot be trusted. NULL: w.columns itself. */
    const char *(*columns)(const sql_statement_t *sql, const sql_table_t *table);
    /** Append the cell of the image `column` (old_row or new_row of c). */
    void (*append_image)(sql_statement_t *sql, const sql_table_t *table, const char *column);
    /** Append the cell of the image `column` of a change of any of these tables (of const sql_table_t *), NULL of
     * another one. NULL: append_image does without a table. */
    void (*append_images)(sql_statement_t *sql, const apr_array_header_t *tables, const char *column);
    /** With that: append a cell that is not NULL where the table of the change has other columns than when it was
     * read. */
    void (*append_altered)(sql_statement_t *sql, const apr_array_header_t *tables);
    /** Append a condition: the image `row` of c has this value, as text, in `column`. May be true for a few others. */
    void (*append_has)(sql_statement_t *sql, const char *row, const sql_column_t *column, const char *value);
} log_dialect_t;

extern const log_dialect_t log_dialect_mysql;
extern const log_dialect_t log_dialect_pgsql;
extern const log_dialect_t log_dialect_sqlite3;

/** The row of the driver of `db`. */
const log_dialect_t *log_dialect_of(const sql_database_t *db);

/** The expression of log_dialect_t::now_of, and of log_dialect_t::watch_id. @param table  NULL: of all tables */
const char *log_dialect_now(const sql_statement_t *sql, const log_dialect_t *dialect, const sql_table_t *table);
const char *log_dialect_watch_id_of(const log_dialect_t *dialect);

/** The condition that `column`, a name of a table, is of one that the log of this feed has. */
const char *log_dialect_has(const sql_call_t *c, const char *column);

/** Is it a position at all? It may be too old, or of another database. */
int log_dialect_is_position(sql_call_t *c, const char *text);

/** The statements that begin and end the watching of c->table, for `vaultctl`.
 * @param statements  of const char *; run them in one transaction */
void log_dialect_watch(sql_call_t *c, apr_array_header_t *statements);
void log_dialect_unwatch(sql_call_t *c, apr_array_header_t *statements);

/** The columns of a table that its triggers know, as `vault_watched` keeps them: a JSON list; where triggers take
 * columns as they are, the key only. Lives as long as the table. */
const char *log_dialect_columns(sql_call_t *c, const sql_table_t *table);

/** Keep with which columns a table is watched, as long as the table lives. @return 1: they are others than were
 * kept, or none were */
int log_dialect_keep_watched(sql_call_t *c, const sql_table_t *table, const char *columns);

/** Is c->table watched, or was it a second ago? There is a table vault_watched.
 * @return as sql_conn_query */
apr_status_t log_dialect_is_watched(sql_call_t *c, int *is_watched);

/** Does every database write this text in JSON without escapes? */
int log_dialect_is_plain(const char *text);

/** Can what `column` has when it is equal to `value` be nothing but that whole number, written so? 0 also where
 * that is not known. */
int log_dialect_is_number(const sql_column_t *column, const char *value);

/** A number that stands for the columns of a table, which is another one when they are others. Never 0. */
apr_uint64_t log_dialect_shape(sql_call_t *c, const sql_table_t *table);

/** A text as a literal: for a person to read, where that is possible. */
const char *log_dialect_literal(const sql_statement_t *sql, const char *text);

/** Append what a trigger does: the INSERT of a change `op` ("I", "U", "D"), with a semicolon.
 * @param key, row  append the key, and the image, of `alias`: OLD or NEW */
typedef void (*log_append_row_fn)(sql_statement_t *sql, const sql_table_t *table, const char *alias);
void log_dialect_append_record(sql_statement_t *sql, const sql_table_t *table, const char *op, log_append_row_fn key,
                               log_append_row_fn row);

/** Push the text of `sql`, without the driver's guard, onto a list of statements. */
void log_dialect_push(apr_array_header_t *statements, const sql_statement_t *sql);

#endif
