/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what a transaction has recorded with its place: see own.h. */
#include "own.h"

#include <string.h>

#include "apr_strings.h"

#include "catalogue.h"
#include "cells.h"
#include "connection.h"
#include "driver.h"
#include "listed.h"
#include "rows.h"

/* One of the watching, and one for each change of the longest list. */
#define ROWS_MAX (DATABASE_LISTED_MAX + 1)

/* Cells: those of the watching, the last of which is a part of the place; then those of the change, NULL unless it can be its own. */
static const char *const names[] = {"op", "key", "old", "new", NULL};

typedef struct arriving_t {
    sql_call_t *c;
    json_t *changes;
    const char *told;
    const char *epoch; /* NULL: the table is not watched */
    int is_alone;
    int rows;
    int failed; /* for want of memory */
} arriving_t;

/* Ids come in their order, as the index has them; nothing says so. */
static int add_change(const arriving_t *arriving, json_t *change, apr_int64_t id)
{
    size_t at = json_array_size(arriving->changes);

    while (at > 0 && json_integer_value(json_object_get(json_array_get(arriving->changes, at - 1), "id")) > id) {
        at--;
    }
    return json_object_set_new(change, "id", json_integer(id)) == 0 &&
           json_object_set_new(change, "xid", json_integer(id)) == 0 &&
           json_array_insert(arriving->changes, at, change) == 0;
}

static void take_change(arriving_t *arriving, const char *id, const char *const *cells)
{
    json_t *change = sql_row_json(names, cells);

    arriving->failed |= change == NULL || !add_change(arriving, change, apr_strtoi64(id, NULL, 10));
    json_decref(change);
}

static int take_cb(void *data, const char *const *cells)
{
    arriving_t *arriving = data;
    sql_call_t *c = arriving->c;

    arriving->rows++;
    if (cells[0][0] != '\0') {
        arriving->epoch = apr_pstrdup(c->pool, cells[0]);
        arriving->is_alone = strcmp(cells[2], database_dialect_columns(c, c->table)) == 0;
        return 1;
    }
    arriving->told = database_part_add(arriving->told, cells[1], cells[3], c->pool);
    if (cells[DATABASE_CELLS_WATCHED] != NULL) {
        take_change(arriving, cells[3], cells + DATABASE_CELLS_WATCHED);
    }
    return !arriving->failed;
}

static sql_statement_t *make_statement(sql_call_t *c, const database_dialect_t *dialect, apr_int64_t floor)
{
    const char *const told[DATABASE_CELLS_WATCHED] = {database_dialect_epoch_of(dialect), "w.pruned", "w.columns",
                                                      dialect->part};
    sql_statement_t *sql = sql_statement_make(c);

    sql_raw(sql, c->db->driver->select);
    for (int i = 0; i < DATABASE_CELLS_WATCHED; i++) {
        sql_raw(sql, i == 0 ? " " : ",");
        sql_bare_cell_of(sql, told[i]);
    }
    sql_raw(sql, ",");
    sql_own_cell(sql, "d", "op", SQL_TEXT);
    sql_raw(sql, ",");
    sql_cell(sql, "d", "row_key", SQL_TEXT); /* of a key that is text it may have a NUL */
    sql_raw(sql, ",");
    sql_own_cell(sql, "d", "old_row", SQL_TEXT);
    sql_raw(sql, ",");
    sql_own_cell(sql, "d", "new_row", SQL_TEXT);
    sql_raw(sql, " FROM ");
    sql_table(sql, "vault_watched");
    sql_raw(sql, " AS w");
    sql_raw(sql, dialect->parts);
    sql_raw(sql, " LEFT JOIN ");
    sql_table(sql, "vault_changes");
    sql_raw(sql, " AS d ON d.id=c.id AND d.id>");
    sql_integer(sql, floor);
    sql_raw(sql, " AND d.tbl=");
    sql_text(sql, c->table->name);
    database_cells_which(sql, dialect, c->table);
    sql_limit(sql, ROWS_MAX + 1);
    return sql;
}

static int tell(const arriving_t *arriving)
{
    size_t i;
    json_t *change;

    json_array_foreach(arriving->changes, i, change)
    {
        if (json_object_set_new(change, "epoch", json_string(arriving->epoch)) != 0 ||
            json_object_set_new(change, "now", json_string(arriving->told)) != 0 ||
            json_object_set_new(change, "alone", json_integer(arriving->is_alone)) != 0) {
            return 0;
        }
    }
    return 1;
}

apr_status_t database_own_read(sql_call_t *c, apr_int64_t floor, json_t **changes)
{
    arriving_t arriving = {.c = c, .changes = json_array()};
    apr_status_t rv = sql_conn_run(c, make_statement(c, database_dialect_of(c->db), floor), take_cb, &arriving);

    *changes = NULL;
    if (rv == APR_SUCCESS && (arriving.failed || arriving.changes == NULL)) {
        rv = sql_fail(c, APR_ENOMEM, "out of memory for rows");
    }
    if (rv == APR_SUCCESS && arriving.rows <= ROWS_MAX && arriving.told != NULL) {
        if (arriving.epoch == NULL) {
            json_array_clear(arriving.changes);
        }
        if (tell(&arriving)) {
            *changes = json_incref(arriving.changes);
        }
        else {
            rv = sql_fail(c, APR_ENOMEM, "out of memory for rows");
        }
    }
    json_decref(arriving.changes);
    return rv;
}
