/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a filter, live.
 *
 * If the changes since the last read of the page are enough to know what is new, they are used: the old and the new
 * image of a row say whether the page shows it before and after. They are not enough in these cases: in a window
 * (limit, offset) a row that is inserted or deleted moves others; with an order a row may have to move; some conditions
 * only the database can evaluate. Then the rows are selected again. The page stores a digest of the selected rows: if
 * it is the same, the page is up to date, otherwise it gets a first view again.
 *
 * With its position the page stores a note: what it waits for ('v': the rows with a value; 't': all rows of the table),
 * whether it shows all rows of the filter ('a') or a window ('w'), and the digest, which is dropped once changes were
 * shown. */
#include "database/live/filter_changes.h"

#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#include "database/changes/change_read.h"
#include "database/rows/arguments.h"
#include "database/rows/delta.h"
#include "database/rows/filter.h"
#include "database/rows/fold.h"
#include "database/rows/interests.h"
#include "database/rows/keys.h"
#include "log/digest.h"
#include "sql/catalogue.h"
#include "sql/connection.h"
#include "sql/driver.h"
#include "sql/rows.h"

#define DIGEST_LENGTH 20

/* One call. */
typedef struct view_t {
    sql_call_t *c;
    database_filter_t filter;
    database_window_t window;
    const char *note;                /* the note of the page; NULL: a first view */
    const apr_array_header_t *named; /* the columns whose values are in the name of the interest; NULL: none */
    json_t *values;                  /* a reference: these values */
    int is_unsure;                   /* the changes are not enough to know what is new */
} view_t;

/* ------------------------------------------------------------ interests */

/* The values that the conditions require of these columns. NULL: they do not require exactly one value of each. */
static json_t *values_of(const view_t *view, const apr_array_header_t *columns)
{
    const json_t *where = json_object_get(view->c->args, "where");
    json_t *values = json_array();

    for (int i = 0; i < columns->nelts && values != NULL; i++) {
        json_t *value = json_object_get(where, database_key_column(columns, i));

        if (!json_is_string(value) && !json_is_integer(value)) {
            json_decref(values);
            return NULL;
        }
        json_array_append(values, value);
    }
    return values;
}

/* Finds an interest that is narrower than that of the table. Writers notify interests with the columns by which
 * collections are found. */
static void find_name(view_t *view, const char *table)
{
    const apr_array_header_t *links = database_model_links(((const database_t *)view->c->db)->model, table);

    for (int i = 0; links != NULL && i < links->nelts && view->values == NULL; i++) {
        view->named = APR_ARRAY_IDX(links, i, const apr_array_header_t *);
        view->values = values_of(view, view->named);
    }
    if (view->values == NULL) {
        view->named = NULL;
    }
}

/* Before the table has been read it is unknown which of the two is needed. */
static apr_status_t create_interests(view_t *view, const char *table, int *needed)
{
    sql_call_t *c = view->c;
    int of_table = 0, of_value = 0;
    apr_status_t rv = APR_SUCCESS;

    if (view->named != NULL && (view->note == NULL || view->note[0] == 'v')) {
        rv = database_interest_create(
            c, database_interest_members(table, view->named, database_key_join(view->values, c->pool), c->pool),
            &of_value);
    }
    if (rv == APR_SUCCESS && (view->named == NULL || view->note == NULL || view->note[0] != 'v')) {
        rv = database_interest_create(c, database_interest_table(table, c->pool), &of_table);
    }
    *needed = of_table || of_value;
    return rv;
}

/* Is the interest with the values sufficient? A whole number has only one spelling, in a column of integers. */
static int is_named(const view_t *view)
{
    for (int i = 0; view->named != NULL && i < view->named->nelts; i++) {
        const sql_column_t *column = sql_table_column_named(view->c->table, database_key_column(view->named, i));

        if (column == NULL ||
            !log_dialect_is_number(column, sql_text_of(json_array_get(view->values, (size_t)i), view->c->pool))) {
            return 0;
        }
    }
    return view->named != NULL;
}

/* ------------------------------------------------------------ rows */

/* SQLite has rows without a key, which no change identifies. */
static void append_key(const view_t *view, sql_statement_t *sql)
{
    const apr_array_header_t *keys = view->c->table->keys;

    for (int i = 0; i < keys->nelts && !view->c->db->driver->is_server; i++) {
        sql_add(sql, "%rt.%n IS NOT NULL", i == 0 && view->filter.conditions->nelts == 0 ? " WHERE " : " AND ",
                database_key_column(keys, i));
    }
}

static apr_status_t select_rows(const view_t *view, json_t **rows)
{
    sql_call_t *c = view->c;
    sql_statement_t *sql = sql_statement_make(c);
    apr_status_t rv;

    sql_select_table(sql, c->table);
    rv = database_filter_append(c, &view->filter, sql);
    if (rv == APR_SUCCESS) {
        append_key(view, sql);
        rv = database_argument_order(c, sql);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    database_append_window(c, sql, &view->window);
    return sql_fetch_table(c, sql, c->db->rows, 0, rows);
}

static const char *digest_of(const view_t *view, const json_t *rows)
{
    apr_pool_t *pool = view->c->pool;

    return apr_pstrndup(pool, log_digest(sql_json_text(rows, JSON_COMPACT, pool), pool), DIGEST_LENGTH);
}

/* Are there rows beside these, or may there be? */
static int is_window(const view_t *view, const json_t *rows)
{
    return view->window.limit != 0 || view->window.offset != 0 || json_array_size(rows) >= (size_t)view->c->db->rows;
}

static const char *make_note(const view_t *view, int window, const char *digest)
{
    return apr_psprintf(view->c->pool, "%c%c%s", is_named(view) ? 'v' : 't', window ? 'w' : 'a', digest);
}

/* Shows everything, in a snapshot; or nothing, if the page is up to date. */
static apr_status_t show_all(const view_t *view, database_change_read_t *read, json_t **rows)
{
    json_t *found = NULL;
    database_delta_t delta;
    const char *digest;
    int has_it;
    apr_status_t rv = select_rows(view, &found);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    digest = digest_of(view, found);
    has_it = view->note != NULL && strcmp(view->note + 2, digest) == 0;
    read->note = make_note(view, is_window(view, found), digest);
    read->reset &= !has_it;
    rv = database_change_read_keep(view->c, read);
    if (rv == APR_SUCCESS && !has_it) {
        database_delta_make(&delta);
        json_array_extend(delta.added, found);
        *rows = database_delta_answer(&delta, 1, read->reset);
    }
    json_decref(found);
    return rv;
}

/* ------------------------------------------------------------ changes */

/* Does the row keep its place in the order after this change? */
static int keeps_order(const view_t *view, const json_t *old, const json_t *new)
{
    json_t *names = database_argument_list(json_object_get(view->c->args, "order_by"));
    int keeps = 1;

    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));

        name = name != NULL && name[0] == '-' ? name + 1 : name;
        keeps &= name != NULL && json_equal(json_object_get(old, name), json_object_get(new, name));
    }
    json_decref(names);
    return keeps;
}

/* @return 0: the changes are not enough to know */
static int add_change(const view_t *view, const database_fold_t *row, database_delta_t *delta)
{
    database_match_e was =
        row->old != NULL ? database_filter_match(view->c, &view->filter, row->old) : DATABASE_MATCH_NO;
    database_match_e is =
        row->new != NULL ? database_filter_match(view->c, &view->filter, row->new) : DATABASE_MATCH_NO;
    int is_ordered = json_object_get(view->c->args, "order_by") != NULL;

    if (was == DATABASE_MATCH_NO && is == DATABASE_MATCH_NO) {
        return 1;
    }
    if (view->note[1] == 'w' || was == DATABASE_MATCH_UNSURE || is == DATABASE_MATCH_UNSURE) {
        return 0;
    }
    if (was == DATABASE_MATCH_NO) {
        json_array_append(delta->added, (json_t *)(uintptr_t)row->new);
        return !is_ordered;
    }
    if (is == DATABASE_MATCH_NO) {
        json_array_append(delta->removed, (json_t *)(uintptr_t)row->old);
        return 1;
    }
    json_array_append(delta->changed, (json_t *)(uintptr_t)row->new);
    return !is_ordered || keeps_order(view, row->old, row->new);
}

static apr_status_t show_changes(view_t *view, database_change_read_t *read, json_t **rows)
{
    const apr_array_header_t *folded = database_fold(read->changes, view->c->pool);
    database_delta_t delta;
    json_t *answer;
    apr_status_t rv = APR_SUCCESS;

    database_delta_make(&delta);
    for (int i = 0; i < folded->nelts && !view->is_unsure; i++) {
        view->is_unsure = !add_change(view, &APR_ARRAY_IDX(folded, i, database_fold_t), &delta);
    }
    answer = database_delta_answer(&delta, 0, 0);
    if (!view->is_unsure) {
        read->note = make_note(view, view->note[1] == 'w', answer == NULL ? view->note + 2 : "");
        rv = database_change_read_keep(view->c, read);
        *rows = rv == APR_SUCCESS ? json_incref(answer) : NULL;
    }
    json_decref(answer);
    return rv;
}

static apr_status_t see(view_t *view, database_change_read_t *read, json_t **rows)
{
    apr_status_t rv = database_filter_read(view->c, &view->filter);

    if (rv == APR_SUCCESS && view->note != NULL && view->note[0] == 'v' && view->named != NULL && !is_named(view)) {
        view->named = NULL; /* the column has another type now, so the interest with the values is not sufficient */
        view->is_unsure = 1;
        return APR_SUCCESS;
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    return read->span.since != NULL && view->note != NULL ? show_changes(view, read, rows) : show_all(view, read, rows);
}

/* @param anew  show everything, whatever the changes are */
static apr_status_t see_once(view_t *view, const char *table, int anew, json_t **rows)
{
    const database_wanted_t wanted = {.most = view->c->db->rows, .anew = anew};
    database_change_read_t read;
    apr_status_t rv = database_change_read_begin_watched(view->c, &read, table, &wanted);

    return rv == APR_SUCCESS ? database_change_read_end(view->c, &read, see(view, &read, rows)) : rv;
}

static apr_status_t see_needed(view_t *view, const char *table, json_t **rows)
{
    int needed = 0;
    apr_status_t rv = create_interests(view, table, &needed);

    if (rv != APR_SUCCESS || !needed) {
        return rv;
    }
    rv = see_once(view, table, view->note == NULL, rows);
    if (rv == APR_SUCCESS && view->is_unsure) {
        sql_conn_give_back(view->c);
        rv = create_interests(view, table, &needed);
        rv = rv == APR_SUCCESS ? see_once(view, table, 1, rows) : rv;
    }
    return rv;
}

apr_status_t database_filter_changes_body(sql_call_t *c, const char *table, json_t **rows)
{
    view_t view = {.c = c, .note = database_change_read_note(c)};
    apr_status_t rv = database_argument_window(c, &view.window);

    if (view.note != NULL && strlen(view.note) < 2) {
        view.note = NULL; /* the note of another method */
    }
    if (rv == APR_SUCCESS) {
        find_name(&view, table);
        rv = see_needed(&view, table, rows);
    }
    json_decref(view.values);
    return rv;
}
