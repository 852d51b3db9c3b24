/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of a statement: see cells.h. */
#include "cells.h"

#include "catalogue.h"
#include "driver.h"

void database_cells_begin(database_cells_t *cells, const char *name)
{
    sql_raw(cells->sql, cells->count == 0 && cells->sql->once == 0 ? " " : ",");
    cells->names[cells->count++] = name;
}

static void append_told(database_cells_t *cells, const database_dialect_t *dialect, const sql_table_t *table)
{
    const char *columns = dialect->columns != NULL ? dialect->columns(cells->sql, table) : "w.columns";
    const char *now = dialect->unites ? dialect->part : database_dialect_now(cells->sql, dialect, table);
    const char *const expressions[DATABASE_CELLS_WATCHED] = {database_dialect_epoch_of(dialect), "w.pruned", columns,
                                                             now};

    for (int i = 0; i < DATABASE_CELLS_WATCHED; i++) {
        sql_raw(cells->sql, i == 0 ? " " : ",");
        sql_bare_cell_of(cells->sql, expressions[i]);
    }
    cells->sql->once = DATABASE_CELLS_WATCHED;
}

static void append_nulls(sql_statement_t *sql, int count)
{
    for (int i = 0; i < count; i++) {
        sql_raw(sql, i == 0 ? "NULL" : ",NULL");
    }
}

static void append_watched(sql_statement_t *sql)
{
    sql_raw(sql, " FROM ");
    sql_table(sql, "vault_watched");
    sql_raw(sql, " AS w");
}

void database_cells_which(sql_statement_t *sql, const database_dialect_t *dialect, const sql_table_t *table)
{
    sql_raw(sql, " WHERE w.tbl=");
    sql_text(sql, table->name);
    sql_raw(sql, dialect->unites ? " OR w.tbl=''" : "");
}

void database_cells_alone(database_cells_t *cells, const database_dialect_t *dialect, const sql_table_t *table,
                          int others)
{
    sql_statement_t *sql = cells->sql;

    sql_raw(sql, sql->driver->select);
    append_told(cells, dialect, table);
    sql_raw(sql, others > 0 ? "," : "");
    append_nulls(sql, others);
    append_watched(sql);
    sql_raw(sql, dialect->unites ? dialect->parts : "");
    database_cells_which(sql, dialect, table);
}

void database_cells_place(sql_statement_t *sql, const database_dialect_t *dialect, const sql_table_t *table,
                          const char *epoch)
{
    sql_raw(sql, " (");
    sql_raw(sql, sql->driver->select);
    sql_raw(sql, " ");
    sql_raw(sql, database_dialect_now(sql, dialect, table));
    append_watched(sql);
    database_cells_which(sql, dialect, table);
    sql_raw(sql, " AND ");
    sql_raw(sql, database_dialect_epoch_of(dialect));
    sql_raw(sql, "=");
    sql_text(sql, epoch);
    sql_raw(sql, ")");
    sql_bare_cell_of(sql, "");
    sql->once = 1;
}

void database_cells_select(database_cells_t *cells, const database_dialect_t *dialect, const sql_table_t *table)
{
    sql_statement_t *sql = cells->sql;

    sql_raw(sql, dialect->unites ? "(" : "");
    sql_raw(sql, sql->driver->select);
    if (!dialect->unites) {
        append_told(cells, dialect, table);
        return;
    }
    sql_raw(sql, " ");
    append_nulls(sql, DATABASE_CELLS_WATCHED);
    sql->once = DATABASE_CELLS_WATCHED;
}

void database_cells_from(database_cells_t *cells, const database_dialect_t *dialect, const char *name,
                         const char *alias)
{
    sql_statement_t *sql = cells->sql;

    if (!dialect->unites) {
        append_watched(sql);
    }
    sql_raw(sql, dialect->unites ? " FROM " : " LEFT JOIN ");
    sql_table(sql, name);
    sql_raw(sql, " AS ");
    sql_raw(sql, alias);
    sql_raw(sql, dialect->unites ? " WHERE " : " ON ");
}

void database_cells_of(database_cells_t *cells, const database_dialect_t *dialect, const sql_table_t *table)
{
    if (!dialect->unites) {
        database_cells_which(cells->sql, dialect, table);
    }
}

void database_cells_end(database_cells_t *cells, const database_dialect_t *dialect, const sql_table_t *table,
                        int others)
{
    sql_statement_t *sql = cells->sql;

    if (!dialect->unites) {
        return;
    }
    sql_raw(sql, ") UNION ALL (");
    database_cells_alone(cells, dialect, table, others);
    sql_raw(sql, ")");
}
