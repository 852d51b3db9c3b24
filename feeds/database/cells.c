/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of a statement: see cells.h. */
#include "cells.h"

void database_cells_begin(database_cells_t *cells, const char *name)
{
    sql_raw(cells->sql, cells->count == 0 && cells->sql->once == 0 ? " " : ",");
    cells->names[cells->count++] = name;
}

void database_cells_watched(database_cells_t *cells, const database_dialect_t *dialect, const sql_table_t *table)
{
    const char *columns = dialect->columns != NULL ? dialect->columns(cells->sql, table) : "w.columns";
    const char *const expressions[DATABASE_CELLS_WATCHED] = {"w.epoch", "w.pruned", columns, dialect->now};

    for (int i = 0; i < DATABASE_CELLS_WATCHED; i++) {
        sql_raw(cells->sql, i == 0 ? " " : ",");
        sql_bare_cell_of(cells->sql, expressions[i]);
    }
    cells->sql->once = DATABASE_CELLS_WATCHED;
}
