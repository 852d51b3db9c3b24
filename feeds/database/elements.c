/* SPDX-License-Identifier: Apache-2.0 */
/* All elements of a collection: see elements.h. */
#include "elements.h"

#include <string.h>

#include "catalogue.h"
#include "cells.h"
#include "connection.h"
#include "driver.h"
#include "fold.h"
#include "rows.h"
#include "select.h"

/* What arrives: cells of the watching, the foreign key, the element. */
typedef struct arriving_t {
    sql_call_t *c;
    database_look_t *look;
    const char *value;          /* what the foreign key is to be, as text */
    const char *const *watched; /* names of the first cells, of which there are `count` */
    const char **names;         /* of those of an element */
    int count;
    json_t *head;
    int failed; /* for want of memory */
} arriving_t;

/* A foreign key that the database takes for the value, but writes in another way: its interest would be another. */
static void compare(const arriving_t *arriving, const char *cell)
{
    const char *text;
    json_t *key;

    if ((cell[0] == 'I' || cell[0] == 'T') && strcmp(cell + 1, arriving->value) == 0) {
        return;
    }
    key = sql_cell_json(cell);
    text = database_text_of(key, arriving->c->pool);
    json_decref(key);
    if (arriving->look->odd == NULL && (text == NULL || strcmp(text, arriving->value) != 0)) {
        arriving->look->odd = text != NULL ? text : "";
    }
}

static int take_cb(void *data, const char *const *cells)
{
    arriving_t *arriving = data;
    const char *key = cells[arriving->count];

    if (arriving->head == NULL) {
        arriving->head = sql_row_json(arriving->watched, cells);
    }
    arriving->failed = arriving->head == NULL;
    /* Where there is no element all its cells are NULL; the foreign key of one is not. */
    if (!arriving->failed && key != NULL) {
        compare(arriving, key);
        arriving->failed = json_array_append_new(arriving->look->elements,
                                                 sql_row_json(arriving->names, cells + arriving->count + 1)) != 0;
    }
    return !arriving->failed;
}

/* The cell `name` of an element. */
static void append_property(arriving_t *arriving, sql_statement_t *sql, const char *name, const char *column)
{
    const sql_column_t *found = column != NULL ? sql_table_column_named(arriving->c->table, column) : NULL;
    int i = 0;

    if (found == NULL) {
        return; /* which is told when the look is done */
    }
    while (arriving->names[i] != NULL) {
        i++;
    }
    arriving->names[i] = name;
    sql_raw(sql, ",");
    sql_cell(sql, "t", found->name, found->kind);
}

static void append_cells(arriving_t *arriving, sql_statement_t *sql, const database_wanted_t *wanted)
{
    sql_call_t *c = arriving->c;
    const char *name;
    json_t *column;

    arriving->names = apr_pcalloc(c->pool, (json_object_size(wanted->properties) + 2) * sizeof(*arriving->names));
    sql_raw(sql, ",");
    sql_cell(sql, "t", wanted->column, sql_table_column_named(c->table, wanted->column)->kind);
    append_property(arriving, sql, "id", c->table->key);
    /* jansson's iterator wants a pointer that is not const; it changes nothing. */
    json_object_foreach((json_t *)(uintptr_t)wanted->properties, name, column)
    {
        append_property(arriving, sql, name, json_string_value(column));
    }
}

/* A table that is watched has one row at least: elements are joined to what is said of the watching. */
static apr_status_t append_from(sql_call_t *c, sql_statement_t *sql, const database_wanted_t *wanted)
{
    apr_status_t rv;

    sql_raw(sql, " FROM ");
    sql_table(sql, "vault_watched");
    sql_raw(sql, " AS w LEFT JOIN ");
    sql_table(sql, c->table->name);
    sql_raw(sql, " AS t ON ");
    rv = database_append_equals(c, sql, wanted->column, wanted->value);
    sql_raw(sql, " WHERE w.tbl=");
    sql_text(sql, c->table->name);
    sql_order(sql, c->table->key != NULL ? c->table->key : wanted->column, 0);
    sql_limit(sql, wanted->most);
    return rv;
}

apr_status_t database_elements_fetch(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted,
                                     json_t **watched)
{
    database_cells_t cells = {.sql = sql_statement_make(c)};
    arriving_t arriving = {.c = c, .look = look, .value = wanted->value, .watched = cells.names};
    apr_status_t rv;

    sql_raw(cells.sql, c->db->driver->select);
    database_cells_watched(&cells, look->dialect);
    arriving.count = cells.count;
    append_cells(&arriving, cells.sql, wanted);
    rv = append_from(c, cells.sql, wanted);
    look->elements = json_array();
    if (rv == APR_SUCCESS) {
        rv = sql_conn_run(c, cells.sql, take_cb, &arriving);
    }
    if (rv == APR_SUCCESS && arriving.failed) {
        rv = sql_fail(c, APR_ENOMEM, "out of memory for rows");
    }
    *watched = arriving.head;
    return rv;
}
