/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of a statement: see cells.h. */
#include "cells.h"

void database_cells_begin(database_cells_t *cells, const char *name)
{
    sql_raw(cells->sql, cells->count == 0 ? " " : ",");
    cells->names[cells->count++] = name;
}

void database_cells_watched(database_cells_t *cells, const database_dialect_t *dialect)
{
    database_cells_begin(cells, "epoch");
    sql_own_cell_of(cells->sql, "w.epoch", SQL_TEXT);
    database_cells_begin(cells, "pruned");
    sql_own_cell_of(cells->sql, "w.pruned", SQL_TEXT);
    database_cells_begin(cells, "columns");
    sql_own_cell_of(cells->sql, "w.columns", SQL_TEXT);
    database_cells_begin(cells, "now");
    sql_own_cell_of(cells->sql, dialect->now, SQL_TEXT);
}
