/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file statement.h
 * Builds statements from constant pieces, names of the catalogue and values. No other file of the feeds makes SQL.
 *
 * A piece of SQL given to sql_raw, and a format, is a string constant of the source, never data. Names are quoted as
 * identifiers and values as literals, as the row of the database says. A format is SQL with these placeholders:
 *
 *   %d        a value: an apr_int64_t
 *   %s        a value: a text, written as a literal, or bound
 *   %q        a text as a literal that belongs to the statement, as names do: it is never bound
 *   %n        a name, quoted
 *   %t        a table, quoted and with its schema
 *   %r        SQL, as in sql_raw
 *   %%        a percent sign
 *   {d.seen}  a cell (driver.h) that is a whole number, {$d.name} one that is text; sql_fetch names them "seen" and
 *           "name" in its rows, {d.seen old} is named "old"
 */
#ifndef SQL_STATEMENT_H
#define SQL_STATEMENT_H

#include <jansson.h>
#include <stdarg.h>

#include "apr_pools.h"
#include "apr_tables.h"

#include "sql/sql.h"

/** The type of a column. SQLite's columns have none: there each value has a type of its own. */
typedef enum sql_kind_e {
    SQL_TEXT, /**< and all types that are exact only as text: decimals, dates, JSON */
    SQL_INTEGER,
    SQL_REAL,
    SQL_BLOB,
    SQL_BOOLEAN
} sql_kind_e;

/** How many texts stand for the same value, for a column that is not an integer. */
typedef enum sql_spelling_e {
    SQL_SPELLING_ANY,    /**< unknown: the database may take another text for the same value */
    SQL_SPELLING_EXACT,  /**< exactly one */
    SQL_SPELLING_UUID,   /**< one in the database's output: small letters, 8-4-4-4-12 */
    SQL_SPELLING_PADDED, /**< as ANY; in the database's JSON it has trailing blanks */
    SQL_SPELLING_UNFIT   /**< the text in the change table differs from that of a row */
} sql_spelling_e;

typedef struct sql_column_t {
    const char *name;
    sql_kind_e kind;
    sql_spelling_e spelling;
    int is_integer;    /**< a text that is a whole number is one in this column, however it is written */
    int generated;     /**< computed by the database: cannot be saved */
    int reads_numbers; /**< if it is compared with a text, the database converts any text to a number */
    int reads_bytes;   /**< the database takes the bytes of a text for a number, not its digits */
    /** a number in it does not equal a text, and a text does not equal a number: neither is converted */
    int keeps_types;
} sql_column_t;

/** A value of a statement, and the position of its literal. */
typedef struct sql_value_t {
    apr_size_t begin, end; /**< in `text` of the statement */
    const char *text;      /**< in the pool of the statement; NULL: it is `number` */
    int length;
    apr_int64_t number;
} sql_value_t;

typedef struct sql_statement_t {
    const sql_driver_t *driver;
    apr_pool_t *pool;
    char *text; /**< NUL-terminated */
    apr_size_t length;
    apr_size_t space;
    /** of const char *, then NULL: the names of the cells that formats have added. NULL: none */
    apr_array_header_t *names;
    /** of sql_value_t: the values that can be bound; NULL: none, or the driver does not bind values */
    apr_array_header_t *values;
    int varies; /**< the best plan depends on the values: a server must plan it each time */
    /** the values of so many first columns are the same in all rows: later rows may have NULL in their place */
    int once;
} sql_statement_t;

/** Begin a statement, with the guard of the driver. In c->pool. */
sql_statement_t *sql_statement_make(sql_call_t *c);
/** Begin a statement with this format. */
sql_statement_t *sql_statement(sql_call_t *c, const char *format, ...);
sql_statement_t *sql_statement_of_list(sql_call_t *c, const char *format, va_list values);
void sql_add(sql_statement_t *sql, const char *format, ...);

/** Begin a text that will become a part of that statement: without the guard, and without the text that `sql` has
 * already. In its pool. */
sql_statement_t *sql_expression_make(const sql_statement_t *sql);

/** A whole statement, without the guard, that is run as it is. */
sql_statement_t sql_statement_of(sql_call_t *c, const char *constant);

void sql_raw(sql_statement_t *sql, const char *constant);
void sql_bytes(sql_statement_t *sql, const char *bytes, apr_size_t length);
void sql_hex(sql_statement_t *sql, const char *bytes, apr_size_t length);
void sql_integer(sql_statement_t *sql, apr_int64_t number);
/** `name` between `quote`s, with each `quote` in it doubled. */
void sql_quoted_name(sql_statement_t *sql, const char *name, char quote);
void sql_name(sql_statement_t *sql, const char *name);
void sql_text(sql_statement_t *sql, const char *text);
/** A text as a literal that belongs to the statement, as names do: it is never bound. */
void sql_constant(sql_statement_t *sql, const char *text);

/** A JSON value as a literal.
 * @return NULL, or what is wrong with it ("has a NUL in it"): then nothing was appended */
const char *sql_value(sql_statement_t *sql, const json_t *value);

/** A JSON value as a literal that `column` is compared with or set to. Returns as sql_value() does. */
const char *sql_value_of(sql_statement_t *sql, const sql_column_t *column, const json_t *value);

/** The table `name`, quoted and with its schema. */
void sql_table(sql_statement_t *sql, const char *name);

/** A cell (driver.h) of the column `column` of the table alias `alias` (NULL: none), with the name of cells. */
void sql_cell(sql_statement_t *sql, const char *alias, const char *column, sql_kind_e kind);
/** A cell of a column of the feed's own tables that holds nothing but text without NUL, or nothing but integers.
 * Cheaper. */
void sql_own_cell(sql_statement_t *sql, const char *alias, const char *column, sql_kind_e kind);
void sql_own_cell_of(sql_statement_t *sql, const char *constant, sql_kind_e kind);
/** A cell that is bare text, without its type: for a reader that knows that it is text. */
void sql_bare_cell_of(sql_statement_t *sql, const char *constant);
/** A cell of an expression in SQL, which is never data. */
void sql_cell_of(sql_statement_t *sql, const char *constant, sql_kind_e kind);

/** `Select` all columns of c->table `FROM` it `AS t`. */
void sql_select_table(sql_statement_t *sql, const sql_table_t *table);
/** ` ORDER BY` a column of t. */
void sql_order(sql_statement_t *sql, const char *column, int descending);
/** ` ORDER BY` the columns of the primary key of t, if it has one. */
void sql_order_by_key(sql_statement_t *sql, const sql_table_t *table, int descending);
void sql_limit(sql_statement_t *sql, int rows);

#endif
