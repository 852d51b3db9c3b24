/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file statement.h
 * Statements, put together from constant pieces, names of the catalogue and values: nothing else in the feed makes SQL.
 *
 * A piece of SQL given to sql_raw, and a format, is a string constant of the source, never data. Names are quoted
 * as identifiers, values as literals, each by the row of the database. A format is SQL with holes in it:
 *
 *   %d        a value: an apr_int64_t
 *   %s        a value: a text, written as a literal, or bound
 *   %q        a text as a literal that is as much a part of the statement as names are: it is never bound
 *   %n        a name, quoted
 *   %t        a table, quoted and with its schema
 *   %r        SQL, as sql_raw takes it
 *   %%        a percent sign
 *   {d.seen}  a cell (driver.h) that is a whole number, {$d.name} one that is text; sql_fetch names them "seen" and
 *             "name" in its rows, {d.seen old} is named "old"
 */
#ifndef SQL_STATEMENT_H
#define SQL_STATEMENT_H

#include <jansson.h>
#include <stdarg.h>

#include "apr_pools.h"
#include "apr_tables.h"

#include "sql/sql.h"

/** What a column holds, as far as the database has an opinion. SQLite has none: there each value says it itself. */
typedef enum sql_kind_e {
    SQL_TEXT, /**< and all that is exact only as text: decimals, dates, JSON */
    SQL_INTEGER,
    SQL_REAL,
    SQL_BLOB,
    SQL_BOOLEAN
} sql_kind_e;

/** How many texts there are for one value of a column that is no whole number. */
typedef enum sql_spelling_e {
    SQL_SPELLING_ANY,    /**< unknown: the database may take another text for the same */
    SQL_SPELLING_EXACT,  /**< one */
    SQL_SPELLING_UUID,   /**< one that is written: small letters, 8-4-4-4-12 */
    SQL_SPELLING_PADDED, /**< as ANY; in the database's JSON it has blanks at its end */
    SQL_SPELLING_UNFIT   /**< what the change table has of it is another text than that of a row */
} sql_spelling_e;

typedef struct sql_column_t {
    const char *name;
    sql_kind_e kind;
    sql_spelling_e spelling;
    int is_integer;    /**< a text that is a whole number is one in it, however it is written */
    int generated;     /**< computed by the database: cannot be saved */
    int reads_numbers; /**< compared with a text, the database makes a number of it, whatever it is */
    int reads_bytes;   /**< makes a number of the bytes of a text, and not of the digits in it */
    int keeps_types;   /**< a number in it is no text, and a text is no number: neither is made of the other */
} sql_column_t;

/** A value of a statement, and where it stands there as a literal. */
typedef struct sql_value_t {
    apr_size_t begin, end; /**< in `text` of the statement */
    const char *text;      /**< in its pool; NULL: it is `number` */
    int length;
    apr_int64_t number;
} sql_value_t;

typedef struct sql_statement_t {
    const sql_driver_t *driver;
    apr_pool_t *pool;
    char *text; /**< NUL-terminated */
    apr_size_t length;
    apr_size_t space;
    apr_array_header_t *names; /**< of const char *, with a NULL behind: of cells that formats have added. NULL: none */
    apr_array_header_t *values; /**< of sql_value_t, those that can be bound; NULL: none, or the driver binds none */
    int varies;                 /**< how it is run best depends on its values: a server is to plan it each time */
    int once; /**< all rows have the same in so many columns: rows after the first may give NULL for them */
} sql_statement_t;

/** Begin a statement, with the row's guard. In c->pool. */
sql_statement_t *sql_statement_make(sql_call_t *c);
/** Begin it with this. */
sql_statement_t *sql_statement(sql_call_t *c, const char *format, ...);
sql_statement_t *sql_statement_of_list(sql_call_t *c, const char *format, va_list values);
void sql_add(sql_statement_t *sql, const char *format, ...);

/** Begin what will be a part of that statement, as text: without the guard, nor anything that is in it yet. In its
 * pool. */
sql_statement_t *sql_expression_make(const sql_statement_t *sql);

/** A whole statement, without the guard, that is only run. */
sql_statement_t sql_statement_of(sql_call_t *c, const char *constant);

void sql_raw(sql_statement_t *sql, const char *constant);
void sql_bytes(sql_statement_t *sql, const char *bytes, apr_size_t length);
void sql_hex(sql_statement_t *sql, const char *bytes, apr_size_t length);
void sql_integer(sql_statement_t *sql, apr_int64_t number);
/** `name` between `quote`s, a `quote` in it doubled. */
void sql_quoted_name(sql_statement_t *sql, const char *name, char quote);
void sql_name(sql_statement_t *sql, const char *name);
void sql_text(sql_statement_t *sql, const char *text);
/** A text that is as much a part of the statement as names are: it is not bound. */
void sql_constant(sql_statement_t *sql, const char *text);

/** A JSON value as a literal.
 * @return NULL, or what is wrong with it ("has a NUL in it"); then nothing was appended */
const char *sql_value(sql_statement_t *sql, const json_t *value);

/** A JSON value as a literal: the value that `column` is compared with or gets. Returns as sql_value() does. */
const char *sql_value_of(sql_statement_t *sql, const sql_column_t *column, const json_t *value);

/** The table `name`, quoted and with its schema. */
void sql_table(sql_statement_t *sql, const char *name);

/** A cell (driver.h) of the column `column` of the table alias `alias` (NULL: none), with the name that cells have. */
void sql_cell(sql_statement_t *sql, const char *alias, const char *column, sql_kind_e kind);
/** A cell of a column of the feed's own tables, which holds nothing but this kind: text (without NUL) or integers.
 * Cheaper. */
void sql_own_cell(sql_statement_t *sql, const char *alias, const char *column, sql_kind_e kind);
void sql_own_cell_of(sql_statement_t *sql, const char *constant, sql_kind_e kind);
/** A cell that is bare text, without its type before it: for a reader that knows that it is text. */
void sql_bare_cell_of(sql_statement_t *sql, const char *constant);
/** A cell of an expression: SQL, never data. */
void sql_cell_of(sql_statement_t *sql, const char *constant, sql_kind_e kind);

/** `Select` all columns of c->table `FROM` it `AS t`. */
void sql_select_table(sql_statement_t *sql, const sql_table_t *table);
/** ` ORDER BY` a column of t. */
void sql_order(sql_statement_t *sql, const char *column, int descending);
/** ` ORDER BY` the columns of the primary key of the table that t is, if it has one. */
void sql_order_by_key(sql_statement_t *sql, const sql_table_t *table, int descending);
void sql_limit(sql_statement_t *sql, int rows);

#endif
