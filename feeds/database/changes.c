/* SPDX-License-Identifier: Apache-2.0 */
/* Statements that read the change table: see changes.h. */
#include "changes.h"

#include <limits.h>
#include <string.h>

#include "apr_strings.h"

#include "board.h"
#include "cells.h"
#include "connection.h"
#include "driver.h"
#include "image.h"
#include "own.h"
#include "rows.h"

/* ------------------------------------------------------------ the cells of a change, and the condition for it */

static void append_key(database_cells_t *cells)
{
    database_cells_begin(cells, "op");
    sql_own_cell_of(cells->sql, "c.op", SQL_TEXT);
    database_cells_begin(cells, "key");
    sql_cell(cells->sql, "c", "row_key", SQL_TEXT); /* of a key that is text it may have a NUL */
}

static void append_images(database_cells_t *cells, const database_dialect_t *dialect, const sql_table_t *table)
{
    database_cells_begin(cells, "old");
    dialect->append_image(cells->sql, table, "old_row");
    database_cells_begin(cells, "new");
    dialect->append_image(cells->sql, table, "new_row");
}

static void append_change(database_cells_t *cells, const database_dialect_t *dialect, const sql_table_t *table)
{
    append_key(cells);
    append_images(cells, dialect, table);
    database_cells_begin(cells, "order");
    sql_own_cell_of(cells->sql, dialect->order, SQL_INTEGER);
}

static void append_id(database_cells_t *cells)
{
    database_cells_begin(cells, "id");
    sql_own_cell_of(cells->sql, "c.id", SQL_INTEGER);
}

/* The condition for changes of `table` that are wanted. */
static void append_wanted(sql_statement_t *sql, const database_dialect_t *dialect, const sql_table_t *table,
                          const database_wanted_t *wanted)
{
    const sql_column_t *column = wanted->column != NULL ? sql_table_column_named(table, wanted->column) : NULL;

    sql_raw(sql, "c.tbl=");
    sql_text(sql, table->name);
    if (wanted->op != NULL) {
        sql_raw(sql, " AND c.op=");
        sql_text(sql, wanted->op);
    }
    if (wanted->key != NULL) {
        sql_raw(sql, " AND c.row_key=");
        sql_text(sql, wanted->key);
    }
    if (column != NULL && dialect->append_either_has != NULL) {
        sql_raw(sql, " AND ");
        dialect->append_either_has(sql, column, wanted->value);
    }
    else if (column != NULL) {
        sql_raw(sql, " AND(");
        dialect->append_has(sql, "old_row", column, wanted->value);
        sql_raw(sql, " OR ");
        dialect->append_has(sql, "new_row", column, wanted->value);
        sql_raw(sql, ")");
    }
}

static void append_in_order(sql_statement_t *sql, const database_dialect_t *dialect, const database_wanted_t *wanted)
{
    sql_raw(sql, " ORDER BY ");
    sql_raw(sql, dialect->order);
    sql_limit(sql, wanted->most + 1);
}

/* ------------------------------------------------------------ with the watching */

/* A place in parts, of which none has come yet, or none is there: somebody has dropped vault_watched alone. */
static const char nowhere[] = "0;";

int database_changes_hear(sql_call_t *c, database_look_t *look, const char *const *cells)
{
    if (look->dialect->unites && cells[0][0] == '\0') {
        look->told = database_part_add(look->told != nowhere ? look->told : NULL, cells[1], cells[3], c->pool);
        return look->epoch != NULL;
    }
    look->epoch = apr_pstrdup(c->pool, cells[0]);
    look->span.pruned = apr_pstrdup(c->pool, cells[1]);
    look->columns = apr_pstrdup(c->pool, cells[2]);
    if (!look->dialect->unites) {
        look->told = apr_pstrdup(c->pool, cells[3]);
    }
    else if (look->told == NULL) {
        look->told = nowhere;
    }
    return 1;
}

/* What arrives: cells of the watching, those of a change, all NULL where there is none. */
typedef struct arriving_t {
    sql_call_t *c;
    database_look_t *look;
    const char *const *names;
    json_t *rows;
    int heard;
    int failed; /* for want of memory */
} arriving_t;

static int take_cb(void *data, const char *const *cells)
{
    arriving_t *arriving = data;

    if (cells[0] != NULL && (!arriving->heard || arriving->look->dialect->unites)) {
        arriving->heard = database_changes_hear(arriving->c, arriving->look, cells);
    }
    if (arriving->names[0] != NULL && cells[DATABASE_CELLS_WATCHED] != NULL) {
        arriving->failed =
            json_array_append_new(arriving->rows, sql_row_json(arriving->names, cells + DATABASE_CELLS_WATCHED)) != 0;
    }
    return !arriving->failed;
}

static void append_watched_and_new(database_cells_t *cells, const database_dialect_t *dialect, const sql_table_t *table,
                                   const database_wanted_t *wanted, const char *since)
{
    sql_statement_t *sql = cells->sql;

    database_cells_select(cells, dialect, table);
    append_change(cells, dialect, table);
    database_cells_from(cells, dialect, "vault_changes", "c");
    append_wanted(sql, dialect, table, wanted);
    sql_raw(sql, " AND ");
    dialect->append_since(sql, since);
    database_cells_of(cells, dialect, table);
    append_in_order(sql, dialect, wanted);
    database_cells_end(cells, dialect, table, cells->count);
}

apr_status_t database_changes_fetch(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted,
                                    json_t **rows, int *heard)
{
    arriving_t arriving = {.c = c, .look = look, .rows = json_array()};
    apr_status_t rv;
    database_cells_t cells = {.sql = sql_statement_make(c)};

    if (look->span.since != NULL) {
        append_watched_and_new(&cells, look->dialect, c->table, wanted, look->span.since);
    }
    else {
        database_cells_alone(&cells, look->dialect, c->table, 0);
    }
    arriving.names = cells.names;
    look->told = look->epoch = NULL;
    rv = sql_conn_run(c, cells.sql, take_cb, &arriving);
    if (rv == APR_SUCCESS && arriving.failed) {
        rv = sql_fail(c, APR_ENOMEM, "out of memory for rows");
    }
    *rows = arriving.rows;
    *heard = arriving.heard;
    return rv;
}

/* ------------------------------------------------------------ understood */

apr_status_t database_changes_understand(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted,
                                         json_t *rows)
{
    char last[32];
    int more = json_array_size(rows) > (size_t)wanted->most;

    if (more) {
        const json_t *order = json_object_get(json_array_get(rows, (size_t)wanted->most - 1), "order");

        apr_snprintf(last, sizeof(last), "%" APR_INT64_T_FMT, (apr_int64_t)json_integer_value(order));
        json_array_remove(rows, (size_t)wanted->most);
    }
    look->next = look->dialect->next(c, &look->span, more ? apr_pstrdup(c->pool, last) : NULL, &look->again);
    return database_image_decode(c, rows);
}

/* ------------------------------------------------------------ alone */

apr_status_t database_changes_read(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted,
                                   json_t **changes)
{
    database_cells_t cells = {.sql = sql_statement_make(c)};
    apr_status_t rv;

    sql_raw(cells.sql, c->db->driver->select);
    append_change(&cells, look->dialect, c->table);
    append_id(&cells);
    sql_raw(cells.sql, " FROM ");
    sql_table(cells.sql, "vault_changes");
    sql_raw(cells.sql, " AS c WHERE ");
    append_wanted(cells.sql, look->dialect, c->table, wanted);
    sql_raw(cells.sql, " AND ");
    look->dialect->append_since(cells.sql, look->span.since);
    append_in_order(cells.sql, look->dialect, wanted);
    rv = sql_fetch(c, cells.sql, cells.names, INT_MAX, changes);
    return rv == APR_SUCCESS ? database_changes_understand(c, look, wanted, *changes) : rv;
}

static void append_own(sql_call_t *c, apr_int64_t floor, int most, int images, database_cells_t *cells)
{
    const database_dialect_t *dialect = database_dialect_of(c->db);
    const database_wanted_t wanted = {.most = most};
    sql_statement_t *sql = cells->sql;

    sql_raw(sql, c->db->driver->select);
    append_key(cells);
    if (images) {
        append_images(cells, dialect, c->table);
    }
    append_id(cells);
    database_cells_begin(cells, "epoch");
    sql_own_cell_of(sql, database_dialect_epoch_of(dialect), SQL_TEXT);
    database_cells_begin(cells, "now");
    sql_own_cell_of(sql, database_dialect_now(sql, dialect, c->table), SQL_TEXT);
    if (dialect->joins != NULL) {
        database_cells_begin(cells, "xid");
        sql_own_cell_of(sql, dialect->number, SQL_INTEGER);
        database_cells_begin(cells, "alone");
        sql_own_cell_of(sql, dialect->alone(sql, c->table, database_dialect_columns(c, c->table)), SQL_INTEGER);
    }
    sql_raw(sql, " FROM ");
    sql_table(sql, "vault_watched");
    sql_raw(sql, " AS w JOIN ");
    sql_table(sql, "vault_changes");
    sql_raw(sql, " AS c ON ");
    append_wanted(sql, dialect, c->table, &wanted);
    sql_raw(sql, " AND ");
    dialect->append_own(sql, floor);
    sql_raw(sql, " WHERE w.tbl=");
    sql_text(sql, c->table->name);
    append_in_order(sql, dialect, &wanted);
}

/* All writes to a table have the same statement. */
static void keep_own(sql_call_t *c, database_kept_t *kept, int images, const database_cells_t *cells)
{
    if (kept->own[images] == NULL && (kept->own[images] = sql_statement_keep(cells->sql, c->conn->pool)) != NULL) {
        kept->own_names[images] = apr_pmemdup(c->conn->pool, cells->names, sizeof(cells->names));
    }
}

apr_status_t database_changes_own(sql_call_t *c, apr_int64_t floor, int most, int images, json_t **changes)
{
    const sql_given_t given[] = {{c->table->name, 0}, {NULL, floor}, {c->table->name, 0}, {NULL, most + 1}};
    database_kept_t *kept = database_dialect_kept(c);
    const sql_statement_t *own = kept->own[images];
    const sql_statement_t *again = own != NULL ? sql_statement_again(c, own, given, 4) : NULL;
    database_cells_t cells = {0};

    if (database_dialect_of(c->db)->unites) {
        apr_status_t rv = database_own_read(c, floor, changes);

        if (rv != APR_SUCCESS || *changes != NULL) {
            return rv;
        }
    }
    if (again != NULL) {
        return sql_fetch(c, again, kept->own_names[images], INT_MAX, changes);
    }
    cells.sql = sql_statement_make(c);
    append_own(c, floor, most, images, &cells);
    keep_own(c, kept, images, &cells);
    return sql_fetch(c, cells.sql, cells.names, INT_MAX, changes);
}
