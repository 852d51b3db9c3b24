/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file dialect.h
 * What watching a table needs of each kind of database: the change table, the triggers that fill it, and places in it.
 *
 * The feed's own tables, made by `vaultctl watch`:
 *
 *   vault_changes  one row for each change of a row: id, tbl, op (I, U, D; W, without a row: it is watched anew; A, of
 *                  PostgreSQL, with tbl "": some commit did not wait for the disk), row_key (the key
 *                  as text), old_row and new_row (images of the row), at (seconds since 1970), and what the dialect needs
 *   vault_watched  one row for each watched table: tbl, epoch (another one each time it is watched), pruned (the place
 *                  up to which its changes are gone), columns (those that the triggers know)
 *   vault_results  results of queries that pages have seen, by digest
 *
 * An image, once read, is a JSON object of cells (feeds/sql/driver.h) by column, so that a row looks the same wherever it
 * comes from.
 *
 * A *place* says which changes a reader has seen: a short text, made and understood by the dialect only. Ids are taken when
 * a row is inserted but seen when it is committed, so that "larger than the largest id" would lose rows wherever there is
 * more than one writer.
 */
#ifndef DATABASE_DIALECT_H
#define DATABASE_DIALECT_H

#include "database.h"
#include "catalogue.h"
#include "statement.h"

/** Where a reader is, and where the database is, in one snapshot. */
typedef struct database_span_t {
    const char *since;  /**< the reader's place */
    const char *now;    /**< the place of this snapshot */
    const char *told;   /**< what the database told of it, if `now` claims less than that; else NULL */
    const char *pruned; /**< up to where changes are gone */
} database_span_t;

typedef struct database_dialect_t {
    const char *name;          /**< of the driver */
    const char *const *tables; /**< statements that make the feed's own tables unless they are there; ends with NULL */
    const char *lock_rows;     /**< after a SELECT in a transaction that will change what it selects */
    const char *order;         /**< the expression that a batch is ordered by, with c as alias of vault_changes */
    const char *
        insert_new; /**< INSERT into a table that has `used`, doing nothing if the row is there: what comes between INSERT and INTO */
    int unites;    /**< other rows come beside that of the watching, not joined to it: cells.h */
    int asks_once; /**< a subquery beside the cells of all rows is run once, and costs less than what is joined to them */
    int adapts;    /**< the triggers take columns that come and go as they are */
    const char *insert_new_end; /**< likewise, what comes after the values */
    const char *
        replace; /**< where statements that make triggers end the transaction: how one begins that takes a row's place at once. NULL: they do not */

    /** The statements that make and drop the triggers of a table, pushed onto `statements` (of const char *).
     * What is there already is replaced. */
    void (*watch)(sql_call_t *c, const sql_table_t *table, apr_array_header_t *statements);
    void (*unwatch)(sql_call_t *c, const sql_table_t *table, apr_array_header_t *statements);

    /** Before a snapshot begins: make places short. NULL: they are.
     * @param patience  for so many seconds at most wait for somebody else who does */
    apr_status_t (*settle)(sql_call_t *c, int patience);
    /** With `settle`: is the place that `now` told so long that a look should settle first? Who watches does at each look, so that this is
     * rare, and most looks of pages need not ask.
     * @return 0: no; 1: yes; 2: it is too long to be kept, so that who settles must be waited for */
    int (*is_long)(const char *told);
    /** Likewise: should who watches settle now? @param age  milliseconds since it did, @param look  between two of its looks */
    int (*is_due)(const char *told, apr_int64_t age, int look);
    /** An expression that tells where a snapshot is, as text that is never NULL. */
    const char *now;
    /** The same for a reader of one table, with what a place needs to outlive a crash of the database. NULL: `now`. */
    const char *(*now_of)(const sql_statement_t *sql, const sql_table_t *table);
    /** The expression of the epoch of a watching: w.epoch, with what places, marks and copies must not outlive.
     * NULL: w.epoch itself. */
    const char *epoch;
    /** A statement that tells the incarnation of the database: another text after each crash and each start of the
     * server. NULL: the database does not tell it. */
    const char *incarnation;
    /** Where the dialect unites: likewise in parts, for less. What comes after vault_watched AS w for it; then of the row of no table, whose tbl
     * and epoch are "", there is a row for each `part`, which is NULL if there is none: DATABASE_CELLS_WATCHED and database_part_add. */
    const char *part, *parts;
    /** Likewise: where a snapshot is, as `now` tells it, for less than that costs. In c->pool. NULL, but not with
     * `settle`: `now` is run. @return as sql_conn_query */
    apr_status_t (*where)(sql_call_t *c, const char **told);
    /** Make a place of what `now` told. In c->pool. NULL: it is one already.
     * @return APR_SUCCESS; other: it cannot be kept; a sentence was given */
    apr_status_t (*place)(sql_call_t *c, const char *told, const char **place);
    /** Are there changes that this reader can no more see? Also true for a place that is none, or lies ahead. */
    int (*is_lost)(sql_call_t *c, const database_span_t *span);
    /** A statement that has who listens look, when the transaction commits. NULL: nobody listens. */
    const char *tell;
    /** What the name of the database's file ends with, as that of a file beside it to which every commit writes. NULL: there is none. */
    const char *journal;
    /** Append the condition on vault_changes AS c for what is new since a place that is not lost. */
    void (*append_since)(sql_statement_t *sql, const char *since);
    /** Append a condition that is true for all that a transaction has recorded, in it, and for no change that others have not
     * committed. It is true for few others. Where there is floor_of it may be false for what a transaction has recorded, if it has taken long.
     * @param floor  the number that a place begins with that the watcher had lately, or what floor_of makes of it */
    void (*append_own)(sql_statement_t *sql, apr_int64_t floor);
    /** Another number of a place, for append_own. NULL: the first one. */
    apr_int64_t (*floor_of)(const char *place);
    /** Places are sets that looks can add to without the database (joined.h): which kind. NULL: they are not. */
    const struct database_joins_t *joins;
    /** With `joins`: an expression that is the number under which what c records is joined. */
    const char *number;
    /** With `joins`: an expression that is 1 in a transaction that has recorded one change, in all tables, if
     * nothing can come to it in the commit, the commit waits for nobody, and the table has the columns that it had when it was read, and
     * that it is watched with: `columns`; else 0. Where places are lists it says that of the columns only. */
    const char *(*alone)(const sql_statement_t *sql, const sql_table_t *table, const char *columns);
    /** The place after a batch.
     * @param last  `order` of its last row if there are more, else NULL
     * @param again  set to 1: there may be changes already that this place has not seen */
    const char *(*next)(sql_call_t *c, const database_span_t *span, const char *last, int *again);

    /** Remove changes that are older than `before` (seconds since 1970), and all but the last `most`, but none that `seen`, a
     * place, has not; each table's `pruned` says up to where. */
    apr_status_t (*prune)(sql_call_t *c, apr_int64_t before, int most, const char *seen);

    /** Have this new connection told of every commit that changed a watched table. NULL: it has to be asked. */
    apr_status_t (*listen)(sql_call_t *c);
    /** Forget what it was told. @return whether it was told anything */
    int (*hush)(sql_call_t *c);
    /** Begins a transaction that will write, of whose changes nobody who listens is told. NULL: there is none. */
    const char *begin_quietly;
    /** With that, in it: who listens is to be told if it has recorded anything, in whatever table, or will. */
    const char *end_quiet;
    /** With that: does nobody listen but this connection? Somebody may begin to at any time, and looks by the clock until this is asked
     * again. @return as sql_conn_query */
    apr_status_t (*listens_alone)(sql_call_t *c, int *alone);

    /** The expression of w.columns, which is "" where the table has other columns than when it was read last: then images, which are made
     * of those, cannot be trusted. NULL: w.columns itself. */
    const char *(*columns)(const sql_statement_t *sql, const sql_table_t *table);
    /** Append the cell of the image `column` (old_row or new_row of c). */
    void (*append_image)(sql_statement_t *sql, const sql_table_t *table, const char *column);
    /** The image of a row that a statement gives, as it is recorded and read again; with `joins`, and `alone` that says all. NULL: nobody knows it. */
    const char *(*image_of)(const char *const *names, const char *const *cells, apr_pool_t *pool);
    /** What an image has in which `column` has this value, as text: parts of it, one of which is there at least; images of other rows may
     * have them, too. NULL: nothing is looked for in images (recent.h).
     * @return how many; 0: nobody knows */
    int (*images_of)(const char *images[2], const sql_column_t *column, const char *value, apr_pool_t *pool);
    /** Append a condition: the image `row` of c has this value, as text, in `column`. May be true for a few others. */
    void (*append_has)(sql_statement_t *sql, const char *row, const sql_column_t *column, const char *value);
    /** Likewise: one of the two images has it. NULL: append_has does. */
    void (*append_either_has)(sql_statement_t *sql, const sql_column_t *column, const char *value);
} database_dialect_t;

extern const database_dialect_t database_dialect_mysql;
extern const database_dialect_t database_dialect_pgsql;
extern const database_dialect_t database_dialect_sqlite3;

/** The row of the driver of `db`. */
const database_dialect_t *database_dialect_of(const sql_database_t *db);

/** Where the database is now: a snapshot's place, if one was begun.
 * @param told   what is not the same text is not the same state; in c->pool
 * @param place  of it, which may be shorter; in c->pool
 * @return as sql_conn_query, and as database_dialect_t::place */
apr_status_t database_dialect_place(sql_call_t *c, const char **told, const char **place);

/** The expression of database_dialect_t::now_of, and of database_dialect_t::epoch. */
const char *database_dialect_now(const sql_statement_t *sql, const database_dialect_t *dialect,
                                 const sql_table_t *table);
const char *database_dialect_epoch_of(const database_dialect_t *dialect);

/** Is it a place at all? It may be too old, or of another database. */
int database_dialect_is_place(sql_call_t *c, const char *text);

/** A place of one more part. What is too long for a place need not be longer.
 * @param told    as far as it is known; NULL: nothing is
 * @param number  `pruned` of the row that the part came with
 * @param id      the part; NULL: there was none
 * @return in `pool` */
const char *database_part_add(const char *told, const char *number, const char *id, apr_pool_t *pool);

/** The statements that begin and end the watching of c->table, for `vaultctl`.
 * @param statements  of const char *; run them in one transaction */
void database_dialect_watch(sql_call_t *c, apr_array_header_t *statements);
void database_dialect_unwatch(sql_call_t *c, apr_array_header_t *statements);

/** The columns of a table that its triggers know, as `vault_watched` keeps them: a JSON list; where triggers take columns as they
 * are, the key only. Lives as long as the table. */
const char *database_dialect_columns(sql_call_t *c, const sql_table_t *table);

/** A table that is watched has the columns that its triggers know: keep of which watching that was found, until tables are read again. */
void database_dialect_keep_epoch(sql_call_t *c, const sql_table_t *table, const char *epoch);
/** That watching; NULL: nobody knows it. */
const char *database_dialect_epoch(const sql_table_t *table);

/** Keep with which columns a table is watched, likewise. @return 1: they are others than were kept, or none were */
int database_dialect_keep_watched(sql_call_t *c, const sql_table_t *table, const char *columns);

/** Is c->table watched, or was it a second ago? There is a table vault_watched.
 * @return as sql_conn_query */
apr_status_t database_dialect_is_watched(sql_call_t *c, int *is_watched);

/** Is a text in JSON what it is otherwise, whoever wrote it? */
int database_dialect_is_plain(const char *text);

/** Can what `column` has when it is equal to `value` be nothing but that whole number, written so? 0 also where nobody knows. */
int database_dialect_is_number(const sql_column_t *column, const char *value);

/** What is kept of a table on a connection, as long as that knows it: statements, mostly. All NULL, or 0, at first; in c->conn->pool. */
typedef struct database_kept_elements_t database_kept_elements_t;
typedef struct database_kept_t {
    database_kept_elements_t *elements; /**< elements.c */
    const sql_statement_t *own[2];      /**< of database_changes_own, without images and with them, */
    const char *const *own_names[2];    /**< with these cells */
    apr_uint64_t shape;                 /**< of database_copy_shape */
    int has_more;                       /**< the last row that was inserted was not all that was recorded */
} database_kept_t;

/** Those of c->table. */
database_kept_t *database_dialect_kept(sql_call_t *c);

/** Append "CREATE TRIGGER"-like names: `vault_TABLE_WHAT`, quoted, without a schema. */
void database_dialect_trigger_name(sql_statement_t *sql, const sql_table_t *table, const char *what);

/** Push the text of `sql`, without the driver's guard, onto a list of statements. */
void database_dialect_push(apr_array_header_t *statements, const sql_statement_t *sql);

#endif
