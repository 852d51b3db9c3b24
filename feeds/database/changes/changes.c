/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the statements that read the change table: see changes.h. */
#include "database/changes/changes.h"

#include <limits.h>
#include <string.h>

#include "apr_strings.h"

#include "database/changes/cells.h"
#include "log/image.h"
#include "log/shared.h"
#include "sql/connection.h"
#include "sql/driver.h"
#include "sql/rows.h"

/* ------------------------------------------------------------ the cells of a change, and the condition for it */

static void append_change(database_cells_t *cells, const log_dialect_t *dialect, const sql_table_t *table)
{
    database_cells_begin(cells, "op");
    sql_own_cell_of(cells->sql, "c.op", SQL_TEXT);
    database_cells_begin(cells, "key");
    sql_cell(cells->sql, "c", "row_key", SQL_TEXT); /* a key that is text may contain a NUL */
    database_cells_begin(cells, "old");
    dialect->append_image(cells->sql, table, "old_row");
    database_cells_begin(cells, "new");
    dialect->append_image(cells->sql, table, "new_row");
    database_cells_begin(cells, "order");
    sql_own_cell_of(cells->sql, dialect->order, SQL_INTEGER);
}

/* The condition that one of the two images has this value. */
static void append_has(sql_statement_t *sql, const log_dialect_t *dialect, const sql_column_t *column,
                       const char *value)
{
    sql_raw(sql, " AND(");
    dialect->append_has(sql, "old_row", column, value);
    sql_raw(sql, " OR ");
    dialect->append_has(sql, "new_row", column, value);
    sql_raw(sql, ")");
}

/* The condition for the wanted changes of `table`. */
static void append_wanted(sql_statement_t *sql, const log_dialect_t *dialect, const sql_table_t *table,
                          const database_wanted_t *wanted)
{
    const database_key_t *members = wanted->members;

    sql_add(sql, "c.tbl=%s", table->name);
    if (wanted->op != NULL) {
        sql_add(sql, " AND c.op=%s", wanted->op);
    }
    if (wanted->key != NULL) {
        sql_add(sql, " AND c.row_key=%s", wanted->key);
    }
    for (int i = 0; members != NULL && i < members->columns->nelts; i++) {
        const sql_column_t *column = sql_table_column_named(table, database_key_column(members->columns, i));

        if (column != NULL) {
            append_has(sql, dialect, column, members->values[i]);
        }
    }
}

/* ------------------------------------------------------------ with the watching */

void database_changes_hear(sql_call_t *c, database_change_read_t *read, const char *const *cells)
{
    if (read->watch_id != NULL || cells[0] == NULL) {
        return;
    }
    read->watch_id = apr_pstrdup(c->pool, cells[0]);
    read->span.pruned = apr_pstrdup(c->pool, cells[1]);
    read->columns = apr_pstrdup(c->pool, cells[2]);
    read->told = apr_pstrdup(c->pool, cells[3]);
}

/* Takes a row: cells of the watching, then those of a change, which are all NULL if there is none. */
typedef struct arriving_t {
    sql_call_t *c;
    database_change_read_t *read;
    const char *const *names;
    json_t *rows;
    int failed; /* out of memory */
} arriving_t;

static int take_cb(void *data, const char *const *cells)
{
    arriving_t *arriving = data;

    database_changes_hear(arriving->c, arriving->read, cells);
    if (arriving->names[0] != NULL && cells[DATABASE_CELLS_WATCHED] != NULL) {
        arriving->failed =
            json_array_append_new(arriving->rows, sql_row_json(arriving->names, cells + DATABASE_CELLS_WATCHED)) != 0;
    }
    return !arriving->failed;
}

static void append_watched_and_new(database_cells_t *cells, const log_dialect_t *dialect, const sql_table_t *table,
                                   const database_wanted_t *wanted, const char *since)
{
    sql_statement_t *sql = cells->sql;

    database_cells_select(cells, dialect, table);
    append_change(cells, dialect, table);
    database_cells_from(cells, "vault_changes", "c");
    append_wanted(sql, dialect, table, wanted);
    sql_raw(sql, " AND ");
    dialect->position->append_since(sql, since);
    database_cells_which(sql, table);
    sql_add(sql, " ORDER BY %r LIMIT %d", dialect->order, (apr_int64_t)wanted->most + 1);
}

apr_status_t database_changes_fetch(sql_call_t *c, database_change_read_t *read, const database_wanted_t *wanted,
                                    json_t **rows)
{
    arriving_t arriving = {.c = c, .read = read, .rows = json_array()};
    apr_status_t rv;
    database_cells_t cells = {.sql = sql_statement_make(c), .is_of_all = wanted->with != NULL};

    if (read->span.since != NULL) {
        append_watched_and_new(&cells, read->dialect, c->table, wanted, read->span.since);
    }
    else {
        database_cells_alone(&cells, read->dialect, c->table);
    }
    arriving.names = cells.names;
    read->told = read->watch_id = NULL;
    rv = sql_conn_run(c, cells.sql, take_cb, &arriving);
    if (rv == APR_SUCCESS && arriving.failed) {
        rv = sql_fail(c, APR_ENOMEM, "out of memory for rows");
    }
    *rows = arriving.rows;
    return rv;
}

/* ------------------------------------------------------------ understood */

apr_status_t database_changes_understand(sql_call_t *c, database_change_read_t *read, const database_wanted_t *wanted,
                                         json_t *rows)
{
    const char *last = NULL;
    int more = json_array_size(rows) > (size_t)wanted->most;

    if (more) {
        const json_t *order = json_object_get(json_array_get(rows, (size_t)wanted->most - 1), "order");

        last = apr_psprintf(c->pool, "%" APR_INT64_T_FMT, (apr_int64_t)json_integer_value(order));
        json_array_remove(rows, (size_t)wanted->most);
    }
    read->next = read->dialect->position->next(c->pool, &read->span, last, &read->again);
    return log_image_decode(c, rows);
}
