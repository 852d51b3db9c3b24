/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file dialect.h
 * What it takes to watch a table, for each kind of database: the change table, the triggers that fill it, and images of
 * rows.
 *
 * `vaultctl watch` creates these tables:
 *
 *   vault_changes  one row for each change of a row: id, tbl, op (I, U, D; W, without a row: the table is watched
 *                  anew; A, on PostgreSQL, with tbl "": a commit did not wait for the disk), row_key (the key as
 *                  text), old_row and new_row (images of the row), at (seconds since 1970), and columns that the
 *                  dialect needs
 *   vault_watched  one row for each watched table: tbl, epoch (the id of the watching, a new one each time the table is
 *                watched), pruned (the position up to which its changes have been pruned), columns (those that the
 *                triggers know)
 *   vault_results  results of queries that pages have seen, by digest
 *
 * An image that was read is a JSON object of cells (feeds/sql/driver.h) by column, so a row has the same form whatever
 * it was read from.
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
    const char *const *tables; /**< statements that create the feed's own tables if they do not exist; ends with NULL */
    /** the expression that orders the changes of a batch, with c as alias of vault_changes */
    const char *order;
    int adapts; /**< the triggers adapt to columns that are added or dropped */
    /** The end of an INSERT into a table with the column `used`, so that it does nothing if the row exists. */
    const char *unless_there;
    /** For databases that commit after each statement that creates a trigger: the beginning of a statement that
     * replaces a row. NULL: they do not commit. */
    const char *replace;

    /** Push the statements that create the triggers of a table, and those that drop them, onto `statements` (of const
     * char *). They replace existing triggers. */
    void (*watch)(sql_call_t *c, const sql_table_t *table, apr_array_header_t *statements);
    void (*unwatch)(sql_call_t *c, const sql_table_t *table, apr_array_header_t *statements);

    /** Before a snapshot begins: make positions short. The slot NULL: they are short.
     * @param seconds  wait at most this long for another process that does it
     * @param known     a position that the caller has kept; NULL: none
     * @return as sql_conn_query(); APR_EINCOMPLETE the database has lost changes that `known` contains, and nothing was
     *         done */
    apr_status_t (*assign_numbers)(sql_call_t *c, int seconds, const char *known);
    /** With `assign_numbers`: is the result of `now` so long that numbers must be assigned before it becomes a
     * position? */
    int (*is_long)(const char *told);
    /** An expression for the position of a snapshot, as text that is never NULL. NULL if there is `now_of`. */
    const char *now;
    /** The same for the tailer: covers all changes that it reads. */
    const char *now_of_all;
    /** An expression that differs whenever other tables are watched, or one is watched anew. May be NULL if none is
     * watched. */
    const char *watchings;
    /** An expression for the largest w.pruned, as text. May be NULL if no change was pruned. */
    const char *pruned;
    /** A condition on vault_changes AS c for the changes that the tailer reads now; it reads the others later. NULL:
     * all. */
    const char *is_tailed;
    int is_by_table; /**< changes are found by their table: no index has them in order */
    /** An expression for log_change_id_t::number. */
    const char *number;
    /** The expression `now` for a reader of one table, with what a position needs to survive a crash of the database.
     * NULL: `now`. */
    const char *(*now_of)(const sql_statement_t *sql, const sql_table_t *table);
    /** The expression for the id of a watching: w.epoch, and anything else that ends the validity of positions. NULL:
     * w.epoch. */
    const char *watch_id;
    /** A statement that returns the incarnation of the database: a text that differs after each crash and each start of
     * the server. NULL: the database does not report it. */
    const char *incarnation;
    /** Make a position of the result of `now`. In `pool`. The slot NULL: the result is a position. */
    const char *(*position_of)(const char *told, apr_pool_t *pool);
    /** A statement that notifies the tailers when the transaction commits. NULL: the database has no notifications. */
    const char *notify;
    /** The suffix of a file beside that of the database, to which every commit writes. NULL: there is none. */
    const char *journal;
    /** Remove changes that are older than `before` (seconds since 1970), and all but the last `most`. A change that is
     * not in the position `seen` is kept. The `pruned` of each table is updated. */
    apr_status_t (*prune)(sql_call_t *c, apr_int64_t before, int most, const char *seen);

    /** Subscribe this new connection to notifications of every commit that changed a watched table. The slot NULL: the
     * database must be polled. */
    apr_status_t (*listen)(sql_call_t *c);
    /** Read the notifications that this connection has received. @return 1: of a change that is not in `position`, or
     * of an unknown one */
    int (*take_notifications)(const sql_conn_t *conn, const char *position);
    /** The expression of w.columns; it is "" if the table's columns are not those that were read last: then its images,
     * which are decoded with those columns, are wrong. NULL: w.columns. */
    const char *(*columns)(const sql_statement_t *sql, const sql_table_t *table);
    /** Append the cell of the image `column` (old_row or new_row of c). */
    void (*append_image)(sql_statement_t *sql, const sql_table_t *table, const char *column);
    /** Append the cell of the image `column` for changes of any of these tables (of const sql_table_t *), and NULL for
     * changes of others. The slot NULL: append_image needs no table. */
    void (*append_images)(sql_statement_t *sql, const apr_array_header_t *tables, const char *column);
    /** With append_images: append a cell that is not NULL if the columns of the change's table are not those that were
     * read. */
    void (*append_altered)(sql_statement_t *sql, const apr_array_header_t *tables);
    /** Append a condition: the image `row` of c has this value, as text, in `column`. It may be true for a few
     * others. */
    void (*append_has)(sql_statement_t *sql, const char *row, const sql_column_t *column, const char *value);
} log_dialect_t;

extern const log_dialect_t log_dialect_mysql;
extern const log_dialect_t log_dialect_pgsql;
extern const log_dialect_t log_dialect_sqlite3;

/** The row for the driver of `db`. */
const log_dialect_t *log_dialect_of(const sql_database_t *db);

/** The expressions of log_dialect_t::now_of and log_dialect_t::watch_id. @param table  NULL: all tables */
const char *log_dialect_now(const sql_statement_t *sql, const log_dialect_t *dialect, const sql_table_t *table);
const char *log_dialect_watch_id_of(const log_dialect_t *dialect);

/** The condition that `column`, the name of a table, belongs to the log of this feed. */
const char *log_dialect_has(const sql_call_t *c, const char *column);

/** Is the text a position? It may be out of date, or belong to another database. */
int log_dialect_is_position(sql_call_t *c, const char *text);

/** The statements that begin and end the watching of c->table, for `vaultctl`.
 * @param statements  of const char *; run them in one transaction */
void log_dialect_watch(sql_call_t *c, apr_array_header_t *statements);
void log_dialect_unwatch(sql_call_t *c, apr_array_header_t *statements);

/** The columns of a table that its triggers know, as `vault_watched` stores them: a JSON list; where triggers adapt to
 * columns, only those of the key. Valid as long as the table object. */
const char *log_dialect_columns(sql_call_t *c, const sql_table_t *table);

/** Store the columns that a table is watched with, as long as the table object lives. @return 1: they differ from those
 * that were stored, or none were stored */
int log_dialect_keep_watched(sql_call_t *c, const sql_table_t *table, const char *columns);

/** Is c->table watched, or was it a second ago? The table vault_watched exists.
 * @return as sql_conn_query() */
apr_status_t log_dialect_is_watched(sql_call_t *c, int *is_watched);

/** Does every database write this text in JSON without escapes? */
int log_dialect_is_plain(const char *text);

/** If `column` equals `value`, must it be a whole number with exactly these digits? 0 also if that is unknown. */
int log_dialect_is_number(const sql_column_t *column, const char *value);

/** A number that identifies the columns of a table; it differs if they differ. Never 0. */
apr_uint64_t log_dialect_shape(sql_call_t *c, const sql_table_t *table);

/** A text as a literal that is readable, if possible. */
const char *log_dialect_literal(const sql_statement_t *sql, const char *text);

/** Append what a trigger does: the INSERT of a change `op` ("I", "U", "D"), with a semicolon.
 * @param key, row  append the key, and the image, of `alias`: OLD or NEW */
typedef void (*log_append_row_fn)(sql_statement_t *sql, const sql_table_t *table, const char *alias);
void log_dialect_append_record(sql_statement_t *sql, const sql_table_t *table, const char *op, log_append_row_fn key,
                               log_append_row_fn row);

/** Push the text of `sql`, without the driver's guard, onto a list of statements. */
void log_dialect_push(apr_array_header_t *statements, const sql_statement_t *sql);

#endif
