/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the cells of a statement: see cells.h. */
#include "database/changes/cells.h"

#include "sql/catalogue.h"
#include "sql/driver.h"

void database_cells_begin(database_cells_t *cells, const char *name)
{
    sql_raw(cells->sql, cells->count == 0 && cells->sql->once == 0 ? " " : ",");
    cells->names[cells->count++] = name;
}

static void append_told(database_cells_t *cells, const log_dialect_t *dialect, const sql_table_t *table)
{
    const char *columns = dialect->columns != NULL ? dialect->columns(cells->sql, table) : "w.columns";
    const char *now = log_dialect_now(cells->sql, dialect, cells->is_of_all ? NULL : table);
    const char *const expressions[DATABASE_CELLS_WATCHED] = {log_dialect_watch_id_of(dialect), "w.pruned", columns,
                                                             now};

    for (int i = 0; i < DATABASE_CELLS_WATCHED; i++) {
        sql_raw(cells->sql, i == 0 ? " " : ",");
        sql_bare_cell_of(cells->sql, expressions[i]);
    }
    cells->sql->once = DATABASE_CELLS_WATCHED;
}

static void append_watched(sql_statement_t *sql)
{
    sql_add(sql, " FROM %t AS w", "vault_watched");
}

void database_cells_which(sql_statement_t *sql, const sql_table_t *table)
{
    sql_add(sql, " WHERE w.tbl=%s", table->name);
}

void database_cells_alone(database_cells_t *cells, const log_dialect_t *dialect, const sql_table_t *table)
{
    database_cells_select(cells, dialect, table);
    append_watched(cells->sql);
    database_cells_which(cells->sql, table);
}

void database_cells_select(database_cells_t *cells, const log_dialect_t *dialect, const sql_table_t *table)
{
    sql_raw(cells->sql, cells->sql->driver->select);
    append_told(cells, dialect, table);
}

void database_cells_from(database_cells_t *cells, const char *name, const char *alias)
{
    append_watched(cells->sql);
    sql_add(cells->sql, " LEFT JOIN %t AS %r ON ", name, alias);
}
