/* SPDX-License-Identifier: Apache-2.0 */
/* All elements of a collection: see elements.h. */
#include "elements.h"

#include <string.h>

#include "apr_strings.h"

#include "catalogue.h"
#include "cells.h"
#include "changes.h"
#include "connection.h"
#include "driver.h"
#include "fold.h"
#include "rows.h"
#include "select.h"

/* What arrives: cells of the watching, the foreign key, the key if it has several columns, the element. */
typedef struct arriving_t {
    sql_call_t *c;
    database_look_t *look;
    const database_key_t *foreign; /* the foreign key; NULL: a whole number, of which there is one spelling */
    const char *const *names;      /* of the cells of an element */
    int heard;
    int failed; /* for want of memory */
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

/* A foreign key that the database takes for the value, but writes in another way: its interest would be another. */
static void compare(const arriving_t *arriving, const char *const *cells)
{
    const database_key_t *foreign = arriving->foreign;
    const char *text;

    if (foreign == NULL || (foreign->columns->nelts == 1 && (cells[0][0] == 'I' || cells[0][0] == 'T') &&
                            strcmp(cells[0] + 1, foreign->text) == 0)) {
        return;
    }
    text = key_of_cells(arriving, cells, foreign->columns->nelts);
    if (arriving->look->odd == NULL && (text == NULL || strcmp(text, foreign->text) != 0)) {
        arriving->look->odd = text != NULL ? text : "";
    }
}

/* How many cells the foreign key has: at least the one that says whether there is an element. */
static int foreign_cells(const arriving_t *arriving)
{
    return arriving->foreign != NULL ? arriving->foreign->columns->nelts : 1;
}

/* How many cells come before those that have a name: of a key of several columns, which is shown as one text. */
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
    return row != NULL && json_array_append_new(arriving->look->elements, row) == 0;
}

static int take_cb(void *data, const char *const *cells)
{
    arriving_t *arriving = data;
    const char *const *own = cells + DATABASE_CELLS_WATCHED;

    if (cells[0] != NULL && !arriving->heard) {
        database_changes_hear(arriving->c, arriving->look, cells);
        arriving->heard = 1;
    }
    /* Where there is no element all its cells are NULL; the foreign key of one is not. */
    if (own[0] != NULL) {
        compare(arriving, own);
        arriving->failed = !take_element(arriving, own + foreign_cells(arriving));
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

/* The cell `name` of an element. */
static void append_property(sql_call_t *c, sql_statement_t *sql, const char **names, const char *name,
                            const char *column)
{
    const sql_column_t *found = column != NULL ? sql_table_column_named(c->table, column) : NULL;

    if (found == NULL) {
        return; /* which is told when the look is done */
    }
    while (*names != NULL) {
        names++;
    }
    *names = name;
    sql_raw(sql, ",");
    sql_cell(sql, "t", found->name, found->kind);
}

/* As the database writes it; of a whole number in a column of such only that it is there: there is one way to write it. */
static void append_foreign_key(const arriving_t *arriving, sql_statement_t *sql, const apr_array_header_t *columns)
{
    if (arriving->foreign != NULL) {
        append_cells(arriving->c, sql, columns);
        return;
    }
    sql_raw(sql, ",CASE WHEN t.");
    sql_name(sql, database_key_column(columns, 0));
    sql_raw(sql, " IS NOT NULL THEN 'I' END");
    sql_bare_cell_of(sql, "");
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
    /* jansson's iterator wants a pointer that is not const; it changes nothing. */
    json_object_foreach((json_t *)(uintptr_t)wanted->properties, name, column)
    {
        append_property(c, sql, names, name, json_string_value(column));
    }
}

/* A table that is watched has one row at least: that of what is said of the watching. */
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

/* All at once, also for a table without any, or that is not watched. */
static apr_status_t make_whole(arriving_t *arriving, const database_wanted_t *wanted, sql_statement_t **made)
{
    sql_call_t *c = arriving->c;
    database_cells_t cells = {.sql = sql_statement_make(c)};

    database_cells_select(&cells, arriving->look->dialect, c->table);
    append_foreign_key(arriving, cells.sql, wanted->members->columns);
    append_element(arriving, cells.sql, wanted);
    *made = cells.sql;
    return append_from(arriving, &cells, wanted);
}

/* What a first view costs most is what each of its rows costs. Where an element is there, and this connection knows the watching, the position will
 * do; and of a foreign key that is a whole number nothing is to be compared. */
static apr_status_t make_lean(arriving_t *arriving, const database_wanted_t *wanted, sql_statement_t **made)
{
    sql_call_t *c = arriving->c;
    sql_statement_t *sql = *made = sql_statement_make(c);
    apr_status_t rv;

    sql_raw(sql, c->db->driver->select);
    database_cells_position(sql, arriving->look->dialect, c->table, database_dialect_epoch(c->table));
    append_element(arriving, sql, wanted);
    sql_raw(sql, " FROM ");
    sql_table(sql, c->table->name);
    sql_raw(sql, " AS t WHERE ");
    rv = database_append_equals(c, sql, wanted->members);
    sql_order_by_key(sql, c->table, 0);
    sql_limit(sql, wanted->most);
    return rv;
}

/* ------------------------------------------------------------ kept */

/* A statement for one collection by foreign keys that are whole numbers: all these are alike. */
struct database_kept_elements_t {
    database_kept_elements_t *next;
    int is_lean;
    const char *column;       /* of the model, which stays */
    const json_t *properties; /* likewise */
    const sql_statement_t *sql;
    const char *const *names;
};

static int key_is_number(const sql_call_t *c, const database_wanted_t *wanted)
{
    const database_key_t *key = wanted->members;

    return key->columns->nelts == 1 &&
           database_dialect_is_number(sql_table_column_named(c->table, database_key_column(key->columns, 0)),
                                      key->text);
}

static const database_kept_elements_t *find_kept(sql_call_t *c, const database_wanted_t *wanted, int is_lean)
{
    const database_kept_elements_t *kept = database_dialect_kept(c)->elements;

    while (kept != NULL &&
           (kept->is_lean != is_lean || kept->column != database_key_column(wanted->members->columns, 0) ||
            kept->properties != wanted->properties)) {
        kept = kept->next;
    }
    return kept;
}

static void keep(const arriving_t *arriving, const database_wanted_t *wanted, int is_lean, const sql_statement_t *sql)
{
    apr_pool_t *pool = arriving->c->conn->pool;
    database_kept_t *all = database_dialect_kept(arriving->c);
    const sql_statement_t *again = sql_statement_keep(sql, pool);
    database_kept_elements_t *kept;
    apr_size_t count = 1; /* with the NULL at their end */

    if (again == NULL) {
        return;
    }
    kept = apr_palloc(pool, sizeof(*kept));
    kept->next = all->elements;
    kept->is_lean = is_lean;
    kept->column = database_key_column(wanted->members->columns, 0);
    kept->properties = wanted->properties;
    kept->sql = again;
    while (arriving->names[count - 1] != NULL) {
        count++;
    }
    kept->names = apr_pmemdup(pool, arriving->names, count * sizeof(*kept->names));
    all->elements = kept;
}

/* As it was kept; NULL: it was not. Values are in the order in which the statement has them. */
static sql_statement_t *make_again(arriving_t *arriving, const database_wanted_t *wanted, int is_lean)
{
    sql_call_t *c = arriving->c;
    const database_kept_elements_t *kept = find_kept(c, wanted, is_lean);
    const sql_given_t value = {.text = wanted->members->text}, table = {.text = c->table->name},
                      most = {.number = wanted->most};
    const sql_given_t lean[] = {table, {.text = database_dialect_epoch(c->table)}, value, most};
    const sql_given_t whole[] = {value, table, most};

    if (kept == NULL) {
        return NULL;
    }
    arriving->names = kept->names;
    return is_lean ? sql_statement_again(c, kept->sql, lean, 4) : sql_statement_again(c, kept->sql, whole, 3);
}

static apr_status_t find_statement(arriving_t *arriving, const database_wanted_t *wanted, int is_lean,
                                   sql_statement_t **sql)
{
    int is_kept = arriving->foreign == NULL;
    apr_status_t rv;

    *sql = is_kept ? make_again(arriving, wanted, is_lean) : NULL;
    if (*sql != NULL) {
        return APR_SUCCESS;
    }
    rv = is_lean ? make_lean(arriving, wanted, sql) : make_whole(arriving, wanted, sql);
    if (rv == APR_SUCCESS && is_kept && find_kept(arriving->c, wanted, is_lean) == NULL) {
        keep(arriving, wanted, is_lean, *sql);
    }
    return rv;
}

/* ------------------------------------------------------------ fetched */

static apr_status_t fetch(arriving_t *arriving, const database_wanted_t *wanted, int is_lean, sql_row_fn row)
{
    sql_call_t *c = arriving->c;
    sql_statement_t *sql;
    apr_status_t rv = find_statement(arriving, wanted, is_lean, &sql);

    if (rv == APR_SUCCESS) {
        rv = sql_conn_run(c, sql, row, arriving);
    }
    return rv == APR_SUCCESS && arriving->failed ? sql_fail(c, APR_ENOMEM, "out of memory for rows") : rv;
}

/* 0: it is not the watching that this connection knows. */
static int hear_position(sql_call_t *c, database_look_t *look, const char *cell)
{
    if (cell == NULL) {
        return 0;
    }
    look->epoch = apr_pstrdup(c->pool, database_dialect_epoch(c->table));
    look->span.pruned = "";
    look->columns = database_dialect_columns(c, c->table); /* with which that epoch was kept */
    look->told = apr_pstrdup(c->pool, cell);
    return 1;
}

static int take_lean_cb(void *data, const char *const *cells)
{
    arriving_t *arriving = data;

    arriving->heard = arriving->heard || hear_position(arriving->c, arriving->look, cells[0]);
    if (arriving->heard) {
        arriving->failed = !take_element(arriving, cells + 1);
    }
    return arriving->heard && !arriving->failed;
}

apr_status_t database_elements_fetch(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted, int *heard)
{
    int is_number = key_is_number(c, wanted);
    arriving_t arriving = {.c = c, .look = look, .foreign = is_number ? NULL : wanted->members};
    apr_status_t rv = APR_SUCCESS;

    look->elements = json_array();
    look->told = look->epoch = NULL;
    if (is_number && look->dialect->asks_once && database_dialect_epoch(c->table) != NULL) {
        rv = fetch(&arriving, wanted, 1, take_lean_cb);
    }
    if (rv == APR_SUCCESS && !arriving.heard) {
        rv = fetch(&arriving, wanted, 0, take_cb);
    }
    *heard = arriving.heard;
    return rv;
}
