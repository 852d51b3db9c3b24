/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cells.h
 * The cells of one statement, and what they are called in the rows that it gives.
 */
#ifndef DATABASE_CELLS_H
#define DATABASE_CELLS_H

#include "dialect.h"
#include "statement.h"

#define DATABASE_CELLS_MAX 12
/** How many database_cells_watched makes. */
#define DATABASE_CELLS_WATCHED 4

typedef struct database_cells_t {
    sql_statement_t *sql;
    const char *names[DATABASE_CELLS_MAX]; /**< ends with NULL */
    int count;
} database_cells_t;

/** What comes next in the statement is the cell `name`. */
void database_cells_begin(database_cells_t *cells, const char *name);

/** The first cells of a statement: what vault_watched AS w, and the snapshot, say of the watching of a table; without names, and as
 * all rows have the same, of the first row only. database_look_hear takes them. */
void database_cells_watched(database_cells_t *cells, const database_dialect_t *dialect, const sql_table_t *table);

#endif
