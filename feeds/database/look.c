/* SPDX-License-Identifier: Apache-2.0 */
/* How a page finds its position in the changes of a table: see look.h. */
#include "look.h"

#include <stddef.h>
#include <string.h>

#include "apr_strings.h"

#include "base/now.h"
#include "board.h"
#include "catalogue.h"
#include "changes.h"
#include "connection.h"
#include "driver.h"
#include "elements.h"
#include "look_ring.h"
#include "subscription.h"

/* A cursor of a watched table: this, the epoch, a colon, the offset in the ring, a colon, the position. */
#define CURSOR_MARK 'w'
/* Likewise of what is not there. */
#define ABSENT_MARK 'a'
/* Before either of them: this, what the caller keeps with it, a colon. */
#define NOTE_MARK 'n'

/* ------------------------------------------------------------ looking from a position on */

static apr_status_t open_snapshot(sql_call_t *c, database_look_t *look)
{
    apr_status_t rv = sql_conn_begin_read(c);

    look->open = rv == APR_SUCCESS;
    return rv;
}

/* Was the table watched again since it was read? Where the database does not tell that tables have changed they are believed for a while. */
static int may_be_read_again(sql_call_t *c, const database_look_t *look)
{
    return database_dialect_keep_watched(c, c->table, look->columns) && look->altered &&
           c->db->driver->define != NULL && c->table->read_at < look->began;
}

static apr_status_t understand_watched(sql_call_t *c, database_look_t *look)
{
    look->is_crowded = look->dialect->is_long != NULL && !look->settled ? look->dialect->is_long(look->told) : 0;
    if (look->is_crowded) {
        return APR_SUCCESS;
    }
    look->span.now = look->span.told = look->told;
    if (look->columns[0] == '\0') {
        c->conn->tables = NULL;
        return SQL_STALE;
    }
    look->altered = strcmp(look->columns, database_dialect_columns(c, c->table)) != 0;
    if (may_be_read_again(c, look) || (look->altered && c->assumes)) {
        c->conn->tables = NULL; /* another key is seen by nobody who assumes */
        return SQL_STALE;
    }
    if (look->dialect->position_of != NULL) {
        look->span.now = look->dialect->position_of(look->told, c->pool);
    }
    return APR_SUCCESS;
}

/* It had one when it was watched: it was altered, or another one has its name now, which may be a view. */
static apr_status_t refuse_without_key(sql_call_t *c, const char *table)
{
    return sql_fail(c, APR_EGENERAL,
                    "the watched table \"%s\" has no primary key any more, so its rows cannot be told apart",
                    sql_shown(c, table));
}

apr_status_t database_look_altered(sql_call_t *c, const char *table)
{
    return sql_fail(c, APR_EGENERAL, "table \"%s\" has other columns than when it was watched: vaultctl watch %s",
                    sql_shown(c, table), sql_shown(c, table));
}

static apr_status_t look_with_table(sql_call_t *c, database_look_t *with, const database_wanted_t *wanted)
{
    const char *name = c->table->name;
    int heard = 0;
    apr_status_t rv = database_changes_fetch(c, with, wanted, &with->changes, &heard);

    if (rv == APR_SUCCESS && !heard) {
        rv = database_look_not_watched(c, name);
    }
    if (rv == APR_SUCCESS) {
        rv = understand_watched(c, with);
    }
    if (rv == APR_SUCCESS && with->altered) {
        rv = database_look_altered(c, name);
    }
    return rv == APR_SUCCESS && c->table->keys->nelts == 0 ? refuse_without_key(c, name) : rv;
}

static void forget_with(database_look_t *look)
{
    if (look->with != NULL) {
        json_decref(look->with->changes);
        look->with = NULL;
    }
}

/* In the snapshot of the look: what is new in wanted->with, too. The epochs of both count. */
static apr_status_t understand_tables(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted)
{
    const database_wanted_t its = {.most = wanted->most, .with = c->table->name};
    const sql_table_t *table = c->table;
    apr_status_t rv = understand_watched(c, look);

    if (rv != APR_SUCCESS || wanted->with == NULL || look->is_crowded) {
        return rv;
    }
    forget_with(look);
    look->with = apr_pcalloc(c->pool, sizeof(*look->with));
    look->with->dialect = look->dialect;
    look->with->span.since = look->span.since;
    look->with->settled = 1; /* or it would have been crowded */
    look->with->began = look->began;
    c->table = look->with_table;
    rv = look_with_table(c, look->with, &its);
    c->table = table;
    if (rv == APR_SUCCESS) {
        look->epoch = apr_pstrcat(c->pool, look->epoch, "+", look->with->epoch, NULL);
    }
    return rv;
}

/* Can the rows of a first view come with its position? */
static int comes_at_once(const sql_call_t *c, const database_wanted_t *wanted)
{
    return wanted->alone && database_key_missing(wanted->members->columns, c->table) == NULL;
}

/* Without a position, or where all is to be read: in one statement with the elements, or in a snapshot that stays open. */
static apr_status_t look_anew(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted)
{
    int at_once = comes_at_once(c, wanted), heard = 0;
    json_t *rows = NULL;
    apr_status_t rv = at_once || look->open ? APR_SUCCESS : open_snapshot(c, look);

    look->span.since = NULL;
    if (rv == APR_SUCCESS) {
        rv = at_once ? database_elements_fetch(c, look, wanted, &heard)
                     : database_changes_fetch(c, look, wanted, &rows, &heard);
    }
    if (rv == APR_SUCCESS && heard) {
        rv = understand_tables(c, look, wanted);
        look->next = look->span.now;
    }
    json_decref(rows);
    return rv;
}

/* Can it be told what happened since look->span.since, a position of `epoch`? */
static int reaches_back(sql_call_t *c, const database_look_t *look, const char *epoch)
{
    return !look->is_crowded && strcmp(look->epoch, epoch) == 0 &&
           !look->dialect->position->is_lost(c->pool, &look->span) &&
           (look->with == NULL || !look->dialect->position->is_lost(c->pool, &look->with->span));
}

/* More than an answer may have? */
static int is_too_much(const database_look_t *look, const database_wanted_t *wanted, const json_t *rows)
{
    return !wanted->cut && (json_array_size(rows) > (size_t)wanted->most ||
                            (look->with != NULL && json_array_size(look->with->changes) > (size_t)wanted->most));
}

static apr_status_t understand_changes(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted,
                                       json_t *rows)
{
    apr_status_t rv;

    look->changes = json_incref(rows);
    rv = database_changes_understand(c, look, wanted, rows);
    return rv == APR_SUCCESS && look->with != NULL
               ? database_changes_understand(c, look->with, wanted, look->with->changes)
               : rv;
}

/* What happened since the cursor, or that it cannot be told. */
static apr_status_t look_since(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted,
                               const database_cursor_t *cursor)
{
    json_t *rows = NULL;
    int heard = 0;
    apr_status_t rv = wanted->alone ? APR_SUCCESS : open_snapshot(c, look);

    look->span.since = cursor->position;
    if (rv == APR_SUCCESS) {
        rv = database_changes_fetch(c, look, wanted, &rows, &heard);
    }
    if (rv == APR_SUCCESS && heard) {
        rv = understand_tables(c, look, wanted);
    }
    if (rv == APR_SUCCESS && heard && reaches_back(c, look, cursor->epoch)) {
        look->reset = is_too_much(look, wanted, rows);
        if (!look->reset) {
            rv = understand_changes(c, look, wanted, rows);
        }
    }
    json_decref(rows);
    return rv;
}

/* What was recorded before the table was altered may not fit its columns: then the past cannot be told. */
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

/* ------------------------------------------------------------ begin */

static void parse_cursor(sql_call_t *c, const char *text, database_cursor_t *cursor)
{
    const char *ring = text != NULL && text[0] == CURSOR_MARK ? strchr(text, ':') : NULL;
    const char *position = ring != NULL ? strchr(ring + 1, ':') : NULL;

    *cursor = (database_cursor_t){0};
    if (position == NULL || !database_dialect_is_position(c, position + 1)) {
        return;
    }
    cursor->epoch = apr_pstrmemdup(c->pool, text + 1, (apr_size_t)(ring - text) - 1);
    cursor->position = apr_pstrdup(c->pool, position + 1);
    database_cursor_read_offset(cursor, ring + 1);
}

/* @return 1: done */
static int find_in_ring(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted,
                        const database_cursor_t *cursor)
{
    look->why = DATABASE_WHY_FIRST;
    if (cursor->position == NULL || !database_look_in_ring(c, look, wanted, cursor, &look->why)) {
        return 0;
    }
    database_board_count_ring((const database_log_t *)c->db);
    return 1;
}

/* The database has answered. */
static void count_sql(const sql_call_t *c, const database_look_t *look)
{
    database_board_count_sql((const database_log_t *)c->db, look->epoch != NULL ? look->why : DATABASE_WHY_UNWATCHED);
}

/* The page's cursor, without the note. NULL: it has none. */
static const char *own_cursor(const sql_call_t *c)
{
    const char *text = c->db->host->cursor_get(c->call);
    const char *end = text != NULL && text[0] == NOTE_MARK ? strchr(text, ':') : NULL;

    return end != NULL ? end + 1 : text;
}

const char *database_look_note(const sql_call_t *c)
{
    const char *text = c->db->host->cursor_get(c->call);
    const char *end = text != NULL && text[0] == NOTE_MARK ? strchr(text, ':') : NULL;

    return end != NULL ? apr_pstrmemdup(c->pool, text + 1, (apr_size_t)(end - text) - 1) : NULL;
}

/* A page that has no cursor yet may be of a user who was here before. */
static apr_status_t find_page(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted)
{
    const char *own = own_cursor(c);
    const char *text = own;
    database_cursor_t cursor;
    apr_status_t rv = APR_SUCCESS;

    look->was_absent = database_look_was_absent(c);
    if (own == NULL && look->subscription != NULL) {
        rv = database_subscription_recall(c, look->subscription, &text);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    parse_cursor(c, text, &cursor);
    if (wanted->anew || database_ring_has_lost(&look->head, cursor.boot)) {
        cursor.position = NULL;
    }
    cursor.boot = own != NULL ? cursor.boot : 0; /* the first view of a page shows what there is now */
    if (!look->settled && find_in_ring(c, look, wanted, &cursor)) {
        return APR_SUCCESS;
    }
    if (cursor.position != NULL) {
        rv = look_since(c, look, wanted, &cursor);
        rv = rv == APR_EINVAL || rv == APR_EGENERAL ? give_up_changes(c, look) : rv;
    }
    if (rv == APR_SUCCESS && look->changes == NULL && !look->is_crowded) {
        look->reset |= own != NULL && !look->was_absent;
        rv = look_anew(c, look, wanted);
    }
    if (rv == APR_SUCCESS && !look->is_crowded) {
        count_sql(c, look);
    }
    return rv;
}

/* Likewise where positions may have to be made short first. */
static apr_status_t find_page_settled(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted)
{
    database_look_t again = *look;
    apr_status_t rv = find_page(c, look, wanted);

    if (rv == APR_SUCCESS && look->is_crowded) {
        again.settled = 1;
        again.why = look->why;
        rv = database_look_end(c, look, rv);
        *look = again;
        rv = rv == APR_SUCCESS ? look->dialect->settle(c, c->db->timeout, NULL) : rv;
        rv = rv == APR_SUCCESS ? find_page(c, look, wanted) : rv;
    }
    return rv;
}

/* On a connection that was taken. */
static apr_status_t begin(sql_call_t *c, database_look_t *look, const char *table, const database_wanted_t *wanted)
{
    int has = 0;
    apr_status_t rv = wanted->with != NULL ? sql_catalogue_find(c, wanted->with) : APR_SUCCESS;

    look->with_table = c->table;
    if (rv == APR_SUCCESS) {
        rv = sql_catalogue_find(c, table);
        look->table = c->table;
    }
    if (rv == APR_SUCCESS && look->dialect != NULL) {
        has = sql_catalogue_knows(c, "vault_watched");
        rv = has ? rv : sql_catalogue_has(c, "vault_watched", &has);
    }
    if (rv == APR_SUCCESS) {
        rv = has ? find_page_settled(c, look, wanted) : open_snapshot(c, look);
    }
    if (rv == APR_SUCCESS && !has) {
        count_sql(c, look);
    }
    return rv == APR_SUCCESS ? rv : database_look_end(c, look, rv);
}

int database_look_was_absent(const sql_call_t *c)
{
    const char *own = own_cursor(c);

    return own != NULL && own[0] == ABSENT_MARK;
}

apr_status_t database_look_begin(sql_call_t *c, database_look_t *look, const char *table,
                                 const database_wanted_t *wanted)
{
    database_look_t fresh = {.dialect = database_dialect_of(c->db)};
    apr_status_t rv = database_subscription_id(c, &fresh.subscription);

    fresh.began = vault_now();
    database_ring_head(database_board_ring((const database_log_t *)c->db), &fresh.head);
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
    if (rv == APR_SUCCESS && look->epoch != NULL && c->table->keys->nelts == 0) {
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
        return database_look_end(c, look, database_look_altered(c, table));
    }
    return rv;
}

apr_status_t database_look_end(sql_call_t *c, database_look_t *look, apr_status_t rv)
{
    forget_with(look);
    json_decref(look->changes);
    look->changes = NULL;
    json_decref(look->elements);
    look->elements = NULL;
    return look->open ? sql_conn_end(c, rv) : rv;
}

void database_call_reset(sql_call_t *c)
{
    const vault_host_t *host = c->db->host;

    if (host->size > offsetof(vault_host_t, reset)) {
        host->reset(c->call);
    }
}

/* A cut position is no set: its page asks the database again. */
static const char *offset_in_ring(const sql_call_t *c, const database_look_t *look)
{
    const database_position_type_t *type = look->dialect->position;
    database_position_t position;

    if (look->again || !type->read(&position, look->next)) {
        return "-";
    }
    return database_cursor_offset(&look->head, c->pool);
}

apr_status_t database_look_keep(sql_call_t *c, const database_look_t *look)
{
    const char *note = look->note != NULL ? apr_psprintf(c->pool, "%c%s:", NOTE_MARK, look->note) : "";
    const char *cursor = apr_psprintf(c->pool, "%s%c%s:%s:%s", note, look->is_absent ? ABSENT_MARK : CURSOR_MARK,
                                      look->epoch, offset_in_ring(c, look), look->next);

    if (look->reset) {
        database_call_reset(c);
    }
    if (c->db->host->cursor_set(c->call, cursor) != APR_SUCCESS) {
        return sql_fail(c, APR_EGENERAL, "the page's position cannot be kept");
    }
    return look->subscription != NULL ? database_subscription_keep(c, look->subscription, cursor, look->next)
                                      : APR_SUCCESS;
}
