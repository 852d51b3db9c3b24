/* SPDX-License-Identifier: Apache-2.0 */
/* Reads all elements of a collection: see elements.h. */
#include "database/changes/elements.h"

#include <string.h>

#include "apr_strings.h"

#include "database/changes/cells.h"
#include "database/changes/changes.h"
#include "database/model/properties.h"
#include "database/rows/fold.h"
#include "database/rows/select.h"
#include "sql/catalogue.h"
#include "sql/connection.h"
#include "sql/driver.h"
#include "sql/rows.h"

/* Takes a row: cells of the watching, the foreign key, the key if it has several columns, the element. */
typedef struct arriving_t {
    sql_call_t *c;
    database_change_read_t *read;
    const database_key_t *foreign; /* the foreign key */
    const char *const *names;      /* names of the cells of an element */
    const json_t *properties;
    int failed; /* out of memory */
} arriving_t;

static const char *key_of_cells(const arriving_t *arriving, const char *const *cells, int count)
{
    json_t *values = json_array();
    const char *key;

    for (int i = 0; i < count; i++) {
        json_array_append_new(values, cells[i] != NULL ? sql_cell_json(cells[i]) : json_null());
    }
    key = database_key_join(values, arriving->c->pool);
    json_decref(values);
    return key;
}

/* Compares the foreign key in the row with the value that was asked for. If the database treats them as equal but
 * writes another text, the interest has that text in its name. */
static void compare(const arriving_t *arriving, const char *const *cells)
{
    const database_key_t *foreign = arriving->foreign;
    const char *text;

    if (foreign->columns->nelts == 1 && (cells[0][0] == 'I' || cells[0][0] == 'T') &&
        strcmp(cells[0] + 1, foreign->text) == 0) {
        return;
    }
    text = key_of_cells(arriving, cells, foreign->columns->nelts);
    if (arriving->read->odd == NULL && (text == NULL || strcmp(text, foreign->text) != 0)) {
        arriving->read->odd = text != NULL ? text : "";
    }
}

/* How many cells come before those with a name: the columns of a key of several columns, which is shown as one text. */
static int key_cells(const arriving_t *arriving)
{
    const sql_table_t *table = arriving->c->table;

    return table->key == NULL ? table->keys->nelts : 0;
}

static int take_element(arriving_t *arriving, const char *const *cells)
{
    int count = key_cells(arriving);
    json_t *row = sql_row_json(arriving->names, cells + count);

    if (count > 0 && row != NULL) {
        json_t *whole = json_pack("{s:s?}", "id", key_of_cells(arriving, cells, count));

        json_object_update(whole, row);
        json_decref(row);
        row = whole;
    }
    if (row != NULL) {
        database_properties_show(arriving->properties, row, arriving->c->pool);
    }
    return row != NULL && json_array_append_new(arriving->read->elements, row) == 0;
}

static int take_cb(void *data, const char *const *cells)
{
    arriving_t *arriving = data;
    const char *const *own = cells + DATABASE_CELLS_WATCHED;

    database_changes_hear(arriving->c, arriving->read, cells);
    /* If there is no element, all its cells are NULL. The foreign key of an element is not NULL. */
    if (own[0] != NULL) {
        compare(arriving, own);
        arriving->failed = !take_element(arriving, own + arriving->foreign->columns->nelts);
    }
    return !arriving->failed;
}

static void append_cells(sql_call_t *c, sql_statement_t *sql, const apr_array_header_t *columns)
{
    for (int i = 0; i < columns->nelts; i++) {
        const sql_column_t *column = sql_table_column_named(c->table, database_key_column(columns, i));

        sql_raw(sql, ",");
        sql_cell(sql, "t", column->name, column->kind);
    }
}

/* Appends the cell `name` of an element. */
static void append_property(sql_call_t *c, sql_statement_t *sql, const char **names, const char *name,
                            const char *column)
{
    const sql_column_t *found = column != NULL ? sql_table_column_named(c->table, column) : NULL;

    if (found == NULL) {
        return; /* the caller reports it after the read */
    }
    while (*names != NULL) {
        names++;
    }
    *names = name;
    sql_raw(sql, ",");
    sql_cell(sql, "t", found->name, found->kind);
}

static void append_element(arriving_t *arriving, sql_statement_t *sql, const database_wanted_t *wanted)
{
    sql_call_t *c = arriving->c;
    const char **names = apr_pcalloc(c->pool, (json_object_size(wanted->properties) + 2) * sizeof(*names));
    const char *name;
    json_t *column;

    arriving->names = names;
    if (c->table->key != NULL) {
        append_property(c, sql, names, "id", c->table->key);
    }
    else {
        append_cells(c, sql, c->table->keys);
    }
    /* jansson's iterator takes a pointer that is not const, but changes nothing. */
    json_object_foreach((json_t *)(uintptr_t)wanted->properties, name, column)
    {
        append_property(c, sql, names, name, database_property_column(column));
    }
}

/* For a watched table there is at least one row, which has the cells of the watching. */
static apr_status_t append_from(const arriving_t *arriving, database_cells_t *cells, const database_wanted_t *wanted)
{
    sql_call_t *c = arriving->c;
    apr_status_t rv;

    database_cells_from(cells, c->table->name, "t");
    rv = database_append_equals(c, cells->sql, wanted->members);
    database_cells_which(cells->sql, c->table);
    sql_order_by_key(cells->sql, c->table, 0);
    sql_limit(cells->sql, wanted->most);
    return rv;
}

apr_status_t database_elements_fetch(sql_call_t *c, database_change_read_t *read, const database_wanted_t *wanted)
{
    arriving_t arriving = {.c = c, .read = read, .foreign = wanted->members, .properties = wanted->properties};
    database_cells_t cells = {.sql = sql_statement_make(c)};
    apr_status_t rv;

    read->elements = json_array();
    read->told = read->watch_id = NULL;
    database_cells_select(&cells, read->dialect, c->table);
    append_cells(c, cells.sql, wanted->members->columns);
    append_element(&arriving, cells.sql, wanted);
    rv = append_from(&arriving, &cells, wanted);
    if (rv == APR_SUCCESS) {
        rv = sql_conn_run(c, cells.sql, take_cb, &arriving);
    }
    return rv == APR_SUCCESS && arriving.failed ? sql_fail(c, APR_ENOMEM, "out of memory for rows") : rv;
}
