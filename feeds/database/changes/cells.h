/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cells.h
 * The cells of one statement, and their names in the rows of the result.
 */
#ifndef DATABASE_CELLS_H
#define DATABASE_CELLS_H

#include "log/dialect.h"
#include "sql/statement.h"

#define DATABASE_CELLS_MAX 12
/** The number of cells that describe the watching of a table. */
#define DATABASE_CELLS_WATCHED 4

typedef struct database_cells_t {
    sql_statement_t *sql;
    const char *names[DATABASE_CELLS_MAX]; /**< ends with NULL */
    int count;
    int is_of_all; /**< the position of the snapshot must cover changes of all tables */
} database_cells_t;

/** The next cell of the statement will be called `name`. */
void database_cells_begin(database_cells_t *cells, const char *name);

/** Append a whole statement whose only cells are those of vault_watched, and of the snapshot, for the watching of a
 * table. The cells have no names: database_changes_hear() reads them. */
void database_cells_alone(database_cells_t *cells, const log_dialect_t *dialect, const sql_table_t *table);

/** ` WHERE` with the condition for the row of the table in vault_watched `AS w`. An ORDER BY may follow. */
void database_cells_which(sql_statement_t *sql, const sql_table_t *table);

/** Begin a statement whose rows may be missing: `SELECT`, and the cells of the watching. All rows have these, so those
 * of the first row are used. */
void database_cells_select(database_cells_t *cells, const log_dialect_t *dialect, const sql_table_t *table);
/** After all cells: ` FROM` the row of the watching, joined with the table `name` `AS alias`, up to the condition of
 * the join. */
void database_cells_from(database_cells_t *cells, const char *name, const char *alias);

#endif
