/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cells.h
 * The cells of one statement, and what they are called in the rows that it gives.
 */
#ifndef DATABASE_CELLS_H
#define DATABASE_CELLS_H

#include "log/dialect.h"
#include "sql/statement.h"

#define DATABASE_CELLS_MAX 12
/** How many there are of the watching of a table. */
#define DATABASE_CELLS_WATCHED 4

typedef struct database_cells_t {
    sql_statement_t *sql;
    const char *names[DATABASE_CELLS_MAX]; /**< ends with NULL */
    int count;
    int is_of_all; /**< the snapshot's position is to be one for changes of all tables */
} database_cells_t;

/** What comes next in the statement is the cell `name`. */
void database_cells_begin(database_cells_t *cells, const char *name);

/** A whole statement with nothing but what vault_watched, and the snapshot, say of the watching of a table; without
 * names. database_changes_hear takes them. */
void database_cells_alone(database_cells_t *cells, const log_dialect_t *dialect, const sql_table_t *table);

/** ` WHERE` it is the row of a table in vault_watched `AS w`. What follows orders the rows. */
void database_cells_which(sql_statement_t *sql, const sql_table_t *table);

/** Begin a statement whose other cells are of rows that may be none: `SELECT`, and those of the watching, which all
 * rows have, so that those of the first count. */
void database_cells_select(database_cells_t *cells, const log_dialect_t *dialect, const sql_table_t *table);
/** When all cells are there: ` FROM` the watching, to which the table `name` is joined `AS alias`, up to its
 * condition. */
void database_cells_from(database_cells_t *cells, const char *name, const char *alias);

#endif
