/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the change table under one snapshot. */
#include "changes.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "apr_strings.h"

#include "catalogue.h"
#include "connection.h"
#include "driver.h"
#include "fold.h"
#include "rows.h"
#include "subscription.h"

/* A cursor of a watched table: this, the epoch, a colon, the place. */
#define CURSOR_MARK 'w'

/* ------------------------------------------------------------ begin */

/* What the database says of the watching of c->table. */
static apr_status_t read_watched(sql_call_t *c, database_look_t *look)
{
    const char *const names[] = {"epoch", "pruned", "columns", look->dialect->now != NULL ? "now" : NULL, NULL};
    sql_statement_t *sql = sql_statement_make(c);
    json_t *rows;
    apr_status_t rv;

    sql_raw(sql, c->db->driver->select);
    sql_raw(sql, " ");
    sql_own_cell(sql, "w", "epoch", SQL_TEXT);
    sql_raw(sql, ",");
    sql_own_cell(sql, "w", "pruned", SQL_TEXT);
    sql_raw(sql, ",");
    sql_own_cell(sql, "w", "columns", SQL_TEXT);
    if (look->dialect->now != NULL) {
        sql_raw(sql, ",");
        sql_own_cell_of(sql, look->dialect->now, SQL_TEXT);
    }
    sql_raw(sql, " FROM ");
    sql_table(sql, "vault_watched");
    sql_raw(sql, " AS w WHERE w.tbl=");
    sql_text(sql, c->table->name);
    rv = sql_fetch(c, sql, names, 1, &rows);
    if (rv == APR_SUCCESS && json_array_size(rows) == 1) {
        const json_t *row = json_array_get(rows, 0);

        look->epoch = apr_pstrdup(c->pool, json_string_value(json_object_get(row, "epoch")));
        look->span.pruned = apr_pstrdup(c->pool, json_string_value(json_object_get(row, "pruned")));
        look->span.now = database_text_of(json_object_get(row, "now"), c->pool);
        look->altered =
            strcmp(json_string_value(json_object_get(row, "columns")), database_dialect_columns(c, c->table)) != 0;
    }
    json_decref(rows);
    return rv;
}

/* The place in the page's cursor, if it is one of this watching of this table and nothing since is lost. */
static int find_place(sql_call_t *c, database_look_t *look, const char *cursor)
{
    apr_size_t length = strlen(look->epoch);

    if (cursor[0] == CURSOR_MARK && strncmp(cursor + 1, look->epoch, length) == 0 && cursor[1 + length] == ':') {
        look->span.since = apr_pstrdup(c->pool, cursor + length + 2);
        if (!look->dialect->is_lost(c, &look->span)) {
            return 1;
        }
        look->span.since = NULL;
    }
    return 0;
}

/* A page that has no cursor yet may be of a user who was here before. */
static apr_status_t find_page(sql_call_t *c, database_look_t *look)
{
    const char *cursor = c->db->host->cursor_get(c->call);
    apr_status_t rv = APR_SUCCESS;

    if (cursor != NULL) {
        look->reset = !find_place(c, look, cursor);
        return APR_SUCCESS;
    }
    if (look->subscription != NULL) {
        rv = database_subscription_recall(c, look->subscription, &cursor);
    }
    if (rv == APR_SUCCESS && cursor != NULL) {
        (void)find_place(c, look, cursor);
    }
    return rv;
}

apr_status_t database_look_begin(sql_call_t *c, database_look_t *look, const char *table)
{
    int has = 0;
    apr_status_t rv;

    memset(look, 0, sizeof(*look));
    look->dialect = database_dialect_of(c->db);
    rv = database_subscription_id(c, &look->subscription);
    if (rv == APR_SUCCESS) {
        rv = sql_conn_take(c);
    }
    if (rv == APR_SUCCESS) {
        rv = sql_catalogue_find(c, table);
    }
    if (rv == APR_SUCCESS && look->dialect != NULL) {
        rv = sql_catalogue_has(c, "vault_watched", &has);
    }
    if (rv == APR_SUCCESS && has && look->dialect->settle != NULL) {
        rv = look->dialect->settle(c);
    }
    if (rv == APR_SUCCESS) {
        rv = sql_conn_begin_read(c);
    }
    if (rv != APR_SUCCESS || !has) {
        return rv;
    }
    rv = read_watched(c, look);
    if (rv == APR_SUCCESS && look->epoch != NULL && look->span.now == NULL) {
        rv = look->dialect->place(c, &look->span.now);
    }
    if (rv == APR_SUCCESS && look->epoch != NULL) {
        look->next = look->span.now;
        rv = find_page(c, look);
    }
    return rv == APR_SUCCESS ? rv : database_look_end(c, rv);
}

apr_status_t database_look_begin_watched(sql_call_t *c, database_look_t *look, const char *table)
{
    apr_status_t rv = database_look_begin(c, look, table);

    if (rv == APR_SUCCESS && look->epoch == NULL) {
        rv = sql_fail(c, APR_EINVAL, "table \"%s\" is not watched, so its changes are not known: vaultctl watch %s",
                      sql_shown(c, table), sql_shown(c, table));
        return database_look_end(c, rv);
    }
    if (rv == APR_SUCCESS && look->altered) {
        rv = sql_fail(c, APR_EGENERAL, "table \"%s\" has other columns than when it was watched: vaultctl watch %s",
                      sql_shown(c, table), sql_shown(c, table));
        return database_look_end(c, rv);
    }
    return rv;
}

apr_status_t database_look_end(sql_call_t *c, apr_status_t rv)
{
    if (rv == APR_SUCCESS) {
        rv = sql_conn_commit(c);
    }
    if (rv != APR_SUCCESS) {
        sql_conn_rollback(c);
    }
    return rv;
}

void database_call_reset(sql_call_t *c)
{
    const vault_host_t *host = c->db->host;

    if (host->size > offsetof(vault_host_t, reset)) {
        host->reset(c->call);
    }
}

apr_status_t database_look_keep(sql_call_t *c, const database_look_t *look)
{
    const char *cursor = apr_psprintf(c->pool, "%c%s:%s", CURSOR_MARK, look->epoch, look->next);

    if (look->reset) {
        database_call_reset(c);
    }
    if (c->db->host->cursor_set(c->call, cursor) != APR_SUCCESS) {
        return sql_fail(c, APR_EGENERAL, "the page's place cannot be kept");
    }
    return look->subscription != NULL ? database_subscription_keep(c, look->subscription, cursor, look->next)
                                      : APR_SUCCESS;
}

/* ------------------------------------------------------------ changes */

static void append_cells(sql_statement_t *sql, const database_dialect_t *dialect, const sql_table_t *table)
{
    sql_raw(sql, sql->driver->select);
    sql_raw(sql, " ");
    sql_own_cell(sql, "c", "op", SQL_TEXT);
    sql_raw(sql, ",");
    sql_cell(sql, "c", "row_key", SQL_TEXT); /* of a key that is text it may have a NUL */
    sql_raw(sql, ",");
    dialect->append_image(sql, table, "old_row");
    sql_raw(sql, ",");
    dialect->append_image(sql, table, "new_row");
    sql_raw(sql, ",");
    sql_own_cell_of(sql, dialect->order, SQL_INTEGER);
    sql_raw(sql, " FROM ");
    sql_table(sql, "vault_changes");
    sql_raw(sql, " AS c WHERE c.tbl=");
    sql_text(sql, table->name);
}

static void append_wanted(sql_statement_t *sql, const database_dialect_t *dialect, const database_wanted_t *wanted)
{
    if (wanted->op != NULL) {
        sql_raw(sql, " AND c.op=");
        sql_text(sql, wanted->op);
    }
    if (wanted->key != NULL) {
        sql_raw(sql, " AND c.row_key=");
        sql_text(sql, wanted->key);
    }
    if (wanted->column != NULL) {
        sql_raw(sql, " AND(");
        dialect->append_has(sql, "old_row", wanted->column, wanted->value);
        sql_raw(sql, " OR ");
        dialect->append_has(sql, "new_row", wanted->column, wanted->value);
        sql_raw(sql, ")");
    }
}

json_t *database_image_row(const char *image)
{
    json_t *cells = image != NULL ? json_loads(image, 0, NULL) : NULL;
    const char *name;
    json_t *cell;
    void *safe;

    json_object_foreach_safe(cells, safe, name, cell)
    {
        json_t *value = sql_cell_json(json_string_value(cell));

        if (json_object_set_new(cells, name, value) != 0) {
            json_decref(cells);
            return NULL;
        }
    }
    return cells;
}

/* Replace an image by the row that it shows. -1: it cannot be read. */
static int decode(json_t *change, const char *name)
{
    json_t *image = json_object_get(change, name);
    json_t *row;

    if (!json_is_string(image)) {
        return 0;
    }
    row = database_image_row(json_string_value(image));
    return row != NULL ? json_object_set_new(change, name, row) : -1;
}

static void make_reset(database_look_t *look, json_t *changes)
{
    look->reset = 1;
    look->span.since = NULL;
    look->next = look->span.now;
    json_array_clear(changes);
}

/* Cut to what is wanted, and say how to go on. */
static void cut_changes(sql_call_t *c, database_look_t *look, json_t *changes, int most)
{
    char last[32];
    int more = json_array_size(changes) > (size_t)most;

    if (more) {
        const json_t *order = json_object_get(json_array_get(changes, (size_t)most - 1), "order");

        apr_snprintf(last, sizeof(last), "%" APR_INT64_T_FMT, (apr_int64_t)json_integer_value(order));
        json_array_remove(changes, (size_t)most);
    }
    look->next = look->dialect->next(c, &look->span, more ? apr_pstrdup(c->pool, last) : NULL, &look->again);
}

/* Run a statement of append_cells. */
static apr_status_t fetch(sql_call_t *c, const sql_statement_t *sql, json_t **changes)
{
    static const char *const names[] = {"op", "key", "old", "new", "order", NULL};

    return sql_fetch(c, sql, names, INT_MAX, changes);
}

/* @param changes  NULL afterwards unless APR_SUCCESS */
static apr_status_t decode_all(sql_call_t *c, json_t **changes)
{
    json_t *change;
    size_t i;

    json_array_foreach(*changes, i, change)
    {
        if (decode(change, "old") != 0 || decode(change, "new") != 0) {
            json_decref(*changes);
            *changes = NULL;
            return sql_fail(c, APR_EGENERAL, "the change table cannot be read: it holds a row that is none");
        }
    }
    return APR_SUCCESS;
}

apr_status_t database_look_changes(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted, int cut,
                                   json_t **changes)
{
    sql_statement_t *sql = sql_statement_make(c);
    apr_status_t rv;

    append_cells(sql, look->dialect, c->table);
    append_wanted(sql, look->dialect, wanted);
    sql_raw(sql, " AND ");
    look->dialect->append_since(sql, look->span.since);
    sql_raw(sql, " ORDER BY ");
    sql_raw(sql, look->dialect->order);
    sql_limit(sql, wanted->most + 1);
    rv = fetch(c, sql, changes);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (!cut && json_array_size(*changes) > (size_t)wanted->most) {
        make_reset(look, *changes);
        return APR_SUCCESS;
    }
    cut_changes(c, look, *changes, wanted->most);
    return decode_all(c, changes);
}
