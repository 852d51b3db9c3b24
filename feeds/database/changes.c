/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the change table under one snapshot. */
#include "changes.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "apr_strings.h"

#include "board.h"
#include "catalogue.h"
#include "cells.h"
#include "connection.h"
#include "driver.h"
#include "elements.h"
#include "fold.h"
#include "glimpse.h"
#include "image.h"
#include "now.h"
#include "recent.h"
#include "rows.h"
#include "subscription.h"

/* A cursor of a watched table: this, the epoch, a colon, the place. */
#define CURSOR_MARK 'w'
/* Likewise of what is not there. */
#define ABSENT_MARK 'a'

/* ------------------------------------------------------------ the statement */

static void append_change(database_cells_t *cells, const database_dialect_t *dialect, const sql_table_t *table)
{
    database_cells_begin(cells, "op");
    sql_own_cell_of(cells->sql, "c.op", SQL_TEXT);
    database_cells_begin(cells, "key");
    sql_cell(cells->sql, "c", "row_key", SQL_TEXT); /* of a key that is text it may have a NUL */
    database_cells_begin(cells, "old");
    dialect->append_image(cells->sql, table, "old_row");
    database_cells_begin(cells, "new");
    dialect->append_image(cells->sql, table, "new_row");
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

/* One more part of a place. What is too long for a place need not be longer. */
static void add_part(sql_call_t *c, database_look_t *look, const char *part)
{
    const char *more = strchr(part, ';');
    apr_size_t length = strlen(look->told);

    if (more != NULL && more[1] != '\0' && length < DATABASE_PLACE_BYTES) {
        look->told = apr_pstrcat(c->pool, look->told, look->told[length - 1] != ';' ? "," : "", more + 1, NULL);
    }
}

void database_look_hear(sql_call_t *c, database_look_t *look, const char *const *cells)
{
    if (look->told != NULL) {
        add_part(c, look, cells[3]);
        return;
    }
    look->epoch = apr_pstrdup(c->pool, cells[0]);
    look->span.pruned = apr_pstrdup(c->pool, cells[1]);
    look->columns = apr_pstrdup(c->pool, cells[2]);
    look->told = apr_pstrdup(c->pool, cells[3]);
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
        database_look_hear(arriving->c, arriving->look, cells);
        arriving->heard = 1;
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

/* What the database says of the watching of c->table; with `since`, also what is new: there is one row at least.
 * @param heard  0: it is not watched */
static apr_status_t fetch_watched(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted,
                                  const char *since, json_t **rows, int *heard)
{
    arriving_t arriving = {.c = c, .look = look, .rows = json_array()};
    apr_status_t rv;
    database_cells_t cells = {.sql = sql_statement_make(c)};

    if (since != NULL) {
        append_watched_and_new(&cells, look->dialect, c->table, wanted, since);
    }
    else {
        database_cells_alone(&cells, look->dialect, c->table, 0);
    }
    arriving.names = cells.names;
    look->told = NULL;
    rv = sql_conn_run(c, cells.sql, take_cb, &arriving);
    if (rv == APR_SUCCESS && arriving.failed) {
        rv = sql_fail(c, APR_ENOMEM, "out of memory for rows");
    }
    *rows = arriving.rows;
    *heard = arriving.heard;
    return rv;
}

/* ------------------------------------------------------------ what was read */

static apr_status_t understand_watched(sql_call_t *c, database_look_t *look)
{
    look->is_crowded = look->dialect->is_long != NULL && !look->settled ? look->dialect->is_long(look->told) : 0;
    if (look->is_crowded) {
        return APR_SUCCESS;
    }
    if (look->dialect->is_due != NULL) {
        database_glimpse(c, look);
    }
    look->span.now = look->told;
    if (look->columns[0] == '\0') {
        c->conn->tables = NULL;
        return SQL_STALE;
    }
    look->altered = strcmp(look->columns, database_dialect_columns(c, c->table)) != 0;
    if (look->altered && c->assumes) {
        c->conn->tables = NULL; /* another key is seen by nobody who assumes */
        return SQL_STALE;
    }
    if (!look->altered) {
        database_dialect_keep_epoch(c, c->table, look->epoch);
    }
    return look->dialect->place != NULL ? look->dialect->place(c, look->told, &look->span.now) : APR_SUCCESS;
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

static apr_status_t understand_changes(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted,
                                       json_t *rows)
{
    look->changes = json_incref(rows);
    cut_changes(c, look, rows, wanted->most);
    return database_image_decode(c, rows);
}

/* ------------------------------------------------------------ begin */

/* A place in `table`, of the watching `epoch`. NULL: that is no cursor of a watched table. */
static const char *parse_cursor(sql_call_t *c, const char *cursor, const char **epoch)
{
    const char *colon = cursor != NULL && cursor[0] == CURSOR_MARK ? strchr(cursor, ':') : NULL;

    if (colon == NULL || !database_dialect_is_place(c, colon + 1)) {
        return NULL;
    }
    *epoch = apr_pstrmemdup(c->pool, cursor + 1, (apr_size_t)(colon - cursor) - 1);
    return apr_pstrdup(c->pool, colon + 1);
}

static apr_status_t open_snapshot(sql_call_t *c, database_look_t *look)
{
    apr_status_t rv = sql_conn_begin_read(c);

    look->open = rv == APR_SUCCESS;
    return rv;
}

/* Can the rows of a first view come with its place? */
static int comes_at_once(const sql_call_t *c, const database_wanted_t *wanted)
{
    return wanted->alone && sql_table_column_named(c->table, wanted->column) != NULL;
}

/* Without a place, or where all is to be read, in one statement. */
static apr_status_t look_at_once(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted)
{
    int heard;
    apr_status_t rv = database_elements_fetch(c, look, wanted, &heard);

    look->span.since = NULL;
    if (rv == APR_SUCCESS && heard) {
        rv = understand_watched(c, look);
        look->next = look->span.now;
    }
    return rv;
}

/* Likewise in a snapshot that stays open. */
static apr_status_t look_anew(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted)
{
    json_t *rows = NULL;
    int heard = 0;
    apr_status_t rv = look->open ? APR_SUCCESS : open_snapshot(c, look);

    look->span.since = NULL;
    if (rv == APR_SUCCESS) {
        rv = fetch_watched(c, look, wanted, NULL, &rows, &heard);
    }
    if (rv == APR_SUCCESS && heard) {
        rv = understand_watched(c, look);
        look->next = look->span.now;
    }
    json_decref(rows);
    return rv;
}

/* Can it be told what happened since look->span.since, a place of `epoch`? */
static int reaches_back(sql_call_t *c, const database_look_t *look, const char *epoch)
{
    return !look->is_crowded && strcmp(look->epoch, epoch) == 0 && !look->dialect->is_lost(c, &look->span);
}

/* What happened since `place`, or that it cannot be told. */
static apr_status_t look_since(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted, const char *place,
                               const char *epoch)
{
    json_t *rows = NULL;
    int heard = 0;
    apr_status_t rv = wanted->alone ? APR_SUCCESS : open_snapshot(c, look);

    if (rv == APR_SUCCESS) {
        rv = fetch_watched(c, look, wanted, place, &rows, &heard);
    }
    if (rv == APR_SUCCESS && heard) {
        rv = understand_watched(c, look);
    }
    look->span.since = place;
    if (rv == APR_SUCCESS && heard && reaches_back(c, look, epoch)) {
        look->reset = !wanted->cut && json_array_size(rows) > (size_t)wanted->most;
        rv = look->reset ? APR_SUCCESS : understand_changes(c, look, wanted, rows);
    }
    json_decref(rows);
    return rv;
}

/* What was recorded before the table was altered may have no place in it: then the past cannot be told. */
static apr_status_t give_up_changes(sql_call_t *c, database_look_t *look)
{
    if (look->open) {
        sql_conn_rollback(c);
        look->open = 0;
    }
    json_decref(look->changes);
    look->changes = NULL;
    return c->conn->broken ? APR_EAGAIN : APR_SUCCESS;
}

/* A page that has no cursor yet may be of a user who was here before. */
static apr_status_t find_page(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted)
{
    const char *own = c->db->host->cursor_get(c->call);
    const char *cursor = own;
    const char *place, *epoch;
    apr_status_t rv = APR_SUCCESS;

    look->was_absent = database_look_was_absent(c);
    if (own == NULL && look->subscription != NULL) {
        rv = database_subscription_recall(c, look->subscription, &cursor);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    place = parse_cursor(c, cursor, &epoch);
    if (place != NULL && look->subscription == NULL && database_recent_look(c, look, wanted, place, epoch)) {
        return APR_SUCCESS;
    }
    if (place != NULL) {
        rv = look_since(c, look, wanted, place, epoch);
        rv = rv == APR_EINVAL || rv == APR_EGENERAL ? give_up_changes(c, look) : rv;
    }
    if (rv == APR_SUCCESS && look->changes == NULL && !look->is_crowded) {
        look->reset |= own != NULL && !look->was_absent;
        rv = comes_at_once(c, wanted) ? look_at_once(c, look, wanted) : look_anew(c, look, wanted);
    }
    return rv;
}

/* Likewise where places may have to be settled first. */
static apr_status_t find_page_settled(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted)
{
    database_look_t again = *look;
    apr_status_t rv = find_page(c, look, wanted);

    if (rv == APR_SUCCESS && look->is_crowded) {
        int crowded = look->is_crowded;

        again.settled = 1;
        rv = database_look_end(c, look, rv);
        *look = again;
        rv = rv == APR_SUCCESS ? look->dialect->settle(c, crowded > 1 ? c->db->timeout : 0) : rv;
        rv = rv == APR_SUCCESS ? find_page(c, look, wanted) : rv;
    }
    return rv;
}

/* On a connection that was taken. */
static apr_status_t begin(sql_call_t *c, database_look_t *look, const char *table, const database_wanted_t *wanted)
{
    int has = 0;
    apr_status_t rv = sql_catalogue_find(c, table);

    if (rv == APR_SUCCESS && look->dialect != NULL) {
        has = sql_catalogue_knows(c, "vault_watched");
        rv = has ? rv : sql_catalogue_has(c, "vault_watched", &has);
    }
    if (rv == APR_SUCCESS) {
        rv = has ? find_page_settled(c, look, wanted) : open_snapshot(c, look);
    }
    return rv == APR_SUCCESS ? rv : database_look_end(c, look, rv);
}

int database_look_was_absent(const sql_call_t *c)
{
    const char *own = c->db->host->cursor_get(c->call);

    return own != NULL && own[0] == ABSENT_MARK;
}

/* It had one when it was watched: it was altered, or another one has its name now, which may be a view. */
static apr_status_t refuse_without_key(sql_call_t *c, const char *table)
{
    return sql_fail(c, APR_EGENERAL,
                    "the watched table \"%s\" has no primary key of one column any more, so its rows cannot be told apart",
                    sql_shown(c, table));
}

apr_status_t database_look_begin(sql_call_t *c, database_look_t *look, const char *table,
                                 const database_wanted_t *wanted)
{
    database_look_t fresh = {.dialect = database_dialect_of(c->db)};
    apr_status_t rv = database_subscription_id(c, &fresh.subscription);

    if (fresh.dialect != NULL && fresh.dialect->is_due != NULL) {
        fresh.began = vault_now();
        fresh.era = database_board_era((const database_t *)c->db);
    }
    if (rv == APR_SUCCESS) {
        rv = sql_conn_take(c);
    }
    *look = fresh;
    if (rv != APR_SUCCESS) {
        return rv;
    }
    sql_catalogue_assume(c, look->dialect != NULL && look->dialect->columns != NULL);
    rv = sql_catalogue_assure(c, begin(c, look, table, wanted));
    if (rv == SQL_STALE) {
        *look = fresh;
        rv = begin(c, look, table, wanted);
    }
    if (rv == APR_SUCCESS && look->epoch != NULL && c->table->key == NULL) {
        return database_look_end(c, look, refuse_without_key(c, table));
    }
    return rv != SQL_STALE ? rv
                           : sql_fail(c, APR_EAGAIN, "the tables of \"%s\" have changed meanwhile", c->db->database);
}

apr_status_t database_look_not_watched(sql_call_t *c, const char *table)
{
    return sql_fail(c, APR_EINVAL, "table \"%s\" is not watched, so its changes are not known: vaultctl watch %s",
                    sql_shown(c, table), sql_shown(c, table));
}

apr_status_t database_look_begin_watched(sql_call_t *c, database_look_t *look, const char *table,
                                         const database_wanted_t *wanted)
{
    apr_status_t rv = database_look_begin(c, look, table, wanted);

    if (rv == APR_SUCCESS && look->epoch == NULL) {
        return database_look_end(c, look, database_look_not_watched(c, table));
    }
    if (rv == APR_SUCCESS && look->altered) {
        rv = sql_fail(c, APR_EGENERAL, "table \"%s\" has other columns than when it was watched: vaultctl watch %s",
                      sql_shown(c, table), sql_shown(c, table));
        return database_look_end(c, look, rv);
    }
    return rv;
}

apr_status_t database_snapshot_end(sql_call_t *c, apr_status_t rv)
{
    if (rv == APR_SUCCESS) {
        rv = sql_conn_commit(c);
    }
    if (rv != APR_SUCCESS) {
        sql_conn_rollback(c);
    }
    return rv;
}

apr_status_t database_look_end(sql_call_t *c, database_look_t *look, apr_status_t rv)
{
    json_decref(look->changes);
    look->changes = NULL;
    json_decref(look->elements);
    look->elements = NULL;
    return look->open ? database_snapshot_end(c, rv) : rv;
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
    const char *cursor =
        apr_psprintf(c->pool, "%c%s:%s", look->is_absent ? ABSENT_MARK : CURSOR_MARK, look->epoch, look->next);

    if (look->reset) {
        database_call_reset(c);
    }
    if (c->db->host->cursor_set(c->call, cursor) != APR_SUCCESS) {
        return sql_fail(c, APR_EGENERAL, "the page's place cannot be kept");
    }
    return look->subscription != NULL ? database_subscription_keep(c, look->subscription, cursor, look->next)
                                      : APR_SUCCESS;
}

/* ------------------------------------------------------------ without a page */

apr_status_t database_look_where(sql_call_t *c, database_where_t *where)
{
    const database_wanted_t wanted = {0};
    database_look_t look = {.dialect = database_dialect_of(c->db)};
    json_t *rows = NULL;
    int heard;
    apr_status_t rv = fetch_watched(c, &look, &wanted, NULL, &rows, &heard);

    json_decref(rows);
    if (rv == APR_SUCCESS && !heard) {
        return database_look_not_watched(c, c->table->name);
    }
    where->epoch = look.epoch;
    where->place = look.told;
    return rv;
}

apr_status_t database_look_changes(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted,
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
    if (rv != APR_SUCCESS) {
        return rv;
    }
    cut_changes(c, look, *changes, wanted->most);
    return database_image_decode(c, *changes);
}

static void append_own(sql_call_t *c, apr_int64_t floor, int most, database_cells_t *cells)
{
    const database_dialect_t *dialect = database_dialect_of(c->db);
    const database_wanted_t wanted = {.most = most};
    sql_statement_t *sql = cells->sql;

    sql_raw(sql, c->db->driver->select);
    append_change(cells, dialect, c->table);
    append_id(cells);
    database_cells_begin(cells, "epoch");
    sql_own_cell_of(sql, "w.epoch", SQL_TEXT);
    database_cells_begin(cells, "now");
    sql_own_cell_of(sql, dialect->now, SQL_TEXT);
    if (dialect->joins != NULL) {
        database_cells_begin(cells, "xid");
        sql_own_cell_of(sql, dialect->number, SQL_INTEGER);
        database_cells_begin(cells, "alone");
        sql_own_cell_of(sql, dialect->alone(sql, c->table, database_dialect_columns(c, c->table)),
                        SQL_INTEGER);
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
static void keep_own(sql_call_t *c, database_kept_t *kept, const database_cells_t *cells)
{
    if (kept->own == NULL && (kept->own = sql_statement_keep(cells->sql, c->conn->pool)) != NULL) {
        kept->own_names = apr_pmemdup(c->conn->pool, cells->names, sizeof(cells->names));
    }
}

apr_status_t database_look_own(sql_call_t *c, apr_int64_t floor, int most, json_t **changes)
{
    const sql_given_t given[] = {{c->table->name, 0}, {NULL, floor}, {c->table->name, 0}, {NULL, most + 1}};
    database_kept_t *kept = database_dialect_kept(c);
    const sql_statement_t *again = kept->own != NULL ? sql_statement_again(c, kept->own, given, 4) : NULL;
    database_cells_t cells = {0};

    if (again != NULL) {
        return sql_fetch(c, again, kept->own_names, INT_MAX, changes);
    }
    cells.sql = sql_statement_make(c);
    append_own(c, floor, most, &cells);
    keep_own(c, kept, &cells);
    return sql_fetch(c, cells.sql, cells.names, INT_MAX, changes);
}
