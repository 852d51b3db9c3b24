/* SPDX-License-Identifier: Apache-2.0 */
/* All elements of a collection: see elements.h. */
#include "elements.h"

#include <string.h>

#include "apr_strings.h"

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
    const char *value;  /* what the foreign key is to be, as text; NULL: it cannot be written in another way */
    const char **names; /* of the cells of an element */
    int heard;
    int failed; /* for want of memory */
} arriving_t;

/* A foreign key that the database takes for the value, but writes in another way: its interest would be another. */
static void compare(const arriving_t *arriving, const char *cell)
{
    const char *text;
    json_t *key;

    if (arriving->value == NULL || ((cell[0] == 'I' || cell[0] == 'T') && strcmp(cell + 1, arriving->value) == 0)) {
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
    const char *const *own = cells + DATABASE_CELLS_WATCHED;

    if (!arriving->heard && cells[0] != NULL) {
        database_look_hear(arriving->c, arriving->look, cells);
        arriving->heard = 1;
    }
    /* Where there is no element all its cells are NULL; the foreign key of one is not. */
    if (own[0] != NULL) {
        compare(arriving, own[0]);
        arriving->failed = json_array_append_new(arriving->look->elements, sql_row_json(arriving->names, own + 1)) != 0;
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

/* As the database writes it; of a whole number in a column of such only that it is there: there is one way to write it. */
static void append_foreign_key(arriving_t *arriving, sql_statement_t *sql, const sql_column_t *column)
{
    if (!database_dialect_is_number(column, arriving->value)) {
        sql_raw(sql, ",");
        sql_cell(sql, "t", column->name, column->kind);
        return;
    }
    arriving->value = NULL;
    sql_raw(sql, ",CASE WHEN t.");
    sql_name(sql, column->name);
    sql_raw(sql, " IS NOT NULL THEN 'I' END");
    sql_bare_cell_of(sql, "");
}

static void append_cells(arriving_t *arriving, sql_statement_t *sql, const database_wanted_t *wanted)
{
    sql_call_t *c = arriving->c;
    const char *name;
    json_t *column;

    arriving->names = apr_pcalloc(c->pool, (json_object_size(wanted->properties) + 2) * sizeof(*arriving->names));
    append_foreign_key(arriving, sql, sql_table_column_named(c->table, wanted->column));
    append_property(arriving, sql, "id", c->table->key);
    /* jansson's iterator wants a pointer that is not const; it changes nothing. */
    json_object_foreach((json_t *)(uintptr_t)wanted->properties, name, column)
    {
        append_property(arriving, sql, name, json_string_value(column));
    }
}

/* How many cells an element has: the foreign key, and those with a name. */
static int count_cells(const arriving_t *arriving)
{
    int count = 0;

    while (arriving->names[count] != NULL) {
        count++;
    }
    return 1 + count;
}

/* A table that is watched has one row at least: that of what is said of the watching. */
static apr_status_t append_from(const arriving_t *arriving, database_cells_t *cells, const database_wanted_t *wanted)
{
    sql_call_t *c = arriving->c;
    const database_dialect_t *dialect = arriving->look->dialect;
    apr_status_t rv;

    database_cells_from(cells, dialect, c->table->name, "t");
    rv = database_append_equals(c, cells->sql, wanted->column, wanted->value);
    database_cells_of(cells, dialect, c->table);
    sql_order(cells->sql, c->table->key != NULL ? c->table->key : wanted->column, 0);
    sql_limit(cells->sql, wanted->most);
    database_cells_end(cells, dialect, c->table, count_cells(arriving));
    return rv;
}

apr_status_t database_elements_fetch(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted, int *heard)
{
    database_cells_t cells = {.sql = sql_statement_make(c)};
    arriving_t arriving = {.c = c, .look = look, .value = wanted->value};
    apr_status_t rv;

    database_cells_select(&cells, look->dialect, c->table);
    append_cells(&arriving, cells.sql, wanted);
    rv = append_from(&arriving, &cells, wanted);
    look->elements = json_array();
    if (rv == APR_SUCCESS) {
        rv = sql_conn_run(c, cells.sql, take_cb, &arriving);
    }
    if (rv == APR_SUCCESS && arriving.failed) {
        rv = sql_fail(c, APR_ENOMEM, "out of memory for rows");
    }
    *heard = arriving.heard;
    return rv;
}
