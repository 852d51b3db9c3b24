/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the position of a page in the changes of a table: see change_read.h. */
#include "database/changes/change_read.h"

#include <stddef.h>
#include <string.h>

#include "apr_strings.h"

#include "base/now.h"
#include "database/changes/change_read_ring.h"
#include "database/changes/changes.h"
#include "database/changes/elements.h"
#include "database/changes/subscription.h"
#include "log/shared.h"
#include "sql/catalogue.h"
#include "sql/connection.h"
#include "sql/driver.h"

/* A cursor of a watched table: this letter, the id of the watching, a colon, the offset in the ring, a colon, the
 * position. */
#define CURSOR_MARK 'w'
/* The cursor of a row that does not exist begins with this letter instead. */
#define ABSENT_MARK 'a'
/* In front of either: this letter, the note of the caller, a colon. */
#define NOTE_MARK 'n'

/* ------------------------------------------------------------ reading from a position on */

static apr_status_t open_snapshot(sql_call_t *c, database_change_read_t *read)
{
    apr_status_t rv = sql_conn_begin_read(c);

    read->open = rv == APR_SUCCESS;
    return rv;
}

/* May the table have been watched again since it was read? Where the database does not report changes of the schema,
 * tables are cached for a while. */
static int may_be_read_again(sql_call_t *c, const database_change_read_t *read)
{
    return log_dialect_keep_watched(c, c->table, read->columns) && read->altered && c->db->driver->define != NULL &&
           c->table->read_at < read->began;
}

static apr_status_t understand_watched(sql_call_t *c, database_change_read_t *read)
{
    read->is_crowded = read->dialect->is_long != NULL && !read->is_numbered ? read->dialect->is_long(read->told) : 0;
    if (read->is_crowded) {
        return APR_SUCCESS;
    }
    read->span.now = read->span.told = read->told;
    if (read->columns[0] == '\0') {
        c->conn->tables = NULL;
        return SQL_STALE;
    }
    read->altered = strcmp(read->columns, log_dialect_columns(c, c->table)) != 0;
    if (may_be_read_again(c, read) || (read->altered && c->assumes)) {
        c->conn->tables = NULL; /* a call that assumes its cached tables would not notice a changed key */
        return SQL_STALE;
    }
    if (read->dialect->position_of != NULL) {
        read->span.now = read->dialect->position_of(read->told, c->pool);
    }
    return APR_SUCCESS;
}

/* The table had a primary key when it was watched. It was altered, or another table or view has its name now. */
static apr_status_t refuse_without_key(sql_call_t *c, const char *table)
{
    return sql_fail(c, APR_EGENERAL,
                    "the watched table \"%s\" has no primary key any more, so its rows cannot be identified",
                    sql_shown(c, table));
}

apr_status_t database_change_read_altered(sql_call_t *c, const char *table)
{
    return sql_fail(c, APR_EGENERAL, "table \"%s\" has other columns than when it was watched: vaultctl watch %s",
                    sql_shown(c, table), sql_shown(c, table));
}

static apr_status_t read_with_table(sql_call_t *c, database_change_read_t *with, const database_wanted_t *wanted)
{
    const char *name = c->table->name;
    apr_status_t rv = database_changes_fetch(c, with, wanted, &with->changes);

    if (rv == APR_SUCCESS && with->watch_id == NULL) {
        rv = database_change_read_not_watched(c, name);
    }
    if (rv == APR_SUCCESS) {
        rv = understand_watched(c, with);
    }
    if (rv == APR_SUCCESS && with->altered) {
        rv = database_change_read_altered(c, name);
    }
    return rv == APR_SUCCESS && c->table->keys->nelts == 0 ? refuse_without_key(c, name) : rv;
}

static void forget_with(database_change_read_t *read)
{
    if (read->with != NULL) {
        json_decref(read->with->changes);
        read->with = NULL;
    }
}

/* Also reads the changes of wanted->with, in the same snapshot. The ids of both watchings count. */
static apr_status_t understand_tables(sql_call_t *c, database_change_read_t *read, const database_wanted_t *wanted)
{
    const database_wanted_t its = {.most = wanted->most, .with = c->table->name};
    const sql_table_t *table = c->table;
    apr_status_t rv = understand_watched(c, read);

    if (rv != APR_SUCCESS || wanted->with == NULL || read->is_crowded) {
        return rv;
    }
    forget_with(read);
    read->with = apr_pcalloc(c->pool, sizeof(*read->with));
    read->with->dialect = read->dialect;
    read->with->span.since = read->span.since;
    read->with->is_numbered = 1; /* otherwise `read` would have been marked as crowded */
    read->with->began = read->began;
    c->table = read->with_table;
    rv = read_with_table(c, read->with, &its);
    c->table = table;
    if (rv == APR_SUCCESS) {
        read->watch_id = apr_pstrcat(c->pool, read->watch_id, "+", read->with->watch_id, NULL);
    }
    return rv;
}

/* Can the rows of a first view be read together with its position? */
static int comes_at_once(const sql_call_t *c, const database_wanted_t *wanted)
{
    return wanted->alone && database_key_missing(wanted->members->columns, c->table) == NULL;
}

/* If there is no position, or everything must be read: reads it in one statement with the elements, or in a snapshot
 * that stays open. */
static apr_status_t read_anew(sql_call_t *c, database_change_read_t *read, const database_wanted_t *wanted)
{
    int at_once = comes_at_once(c, wanted);
    json_t *rows = NULL;
    apr_status_t rv = at_once || read->open ? APR_SUCCESS : open_snapshot(c, read);

    read->span.since = NULL;
    if (rv == APR_SUCCESS) {
        rv = at_once ? database_elements_fetch(c, read, wanted) : database_changes_fetch(c, read, wanted, &rows);
    }
    if (rv == APR_SUCCESS && read->watch_id != NULL) {
        rv = understand_tables(c, read, wanted);
        read->next = read->span.now;
    }
    json_decref(rows);
    return rv;
}

/* Are the changes since read->span.since, a position of `watch_id`, still known? */
static int reaches_back(sql_call_t *c, const database_change_read_t *read, const char *watch_id)
{
    return !read->is_crowded && strcmp(read->watch_id, watch_id) == 0 &&
           !read->dialect->position->is_lost(c->pool, &read->span) &&
           (read->with == NULL || !read->dialect->position->is_lost(c->pool, &read->with->span));
}

/* Are there more changes than an answer may have? */
static int is_too_much(const database_change_read_t *read, const database_wanted_t *wanted, const json_t *rows)
{
    return !wanted->cut && (json_array_size(rows) > (size_t)wanted->most ||
                            (read->with != NULL && json_array_size(read->with->changes) > (size_t)wanted->most));
}

static apr_status_t understand_changes(sql_call_t *c, database_change_read_t *read, const database_wanted_t *wanted,
                                       json_t *rows)
{
    apr_status_t rv;

    read->changes = json_incref(rows);
    rv = database_changes_understand(c, read, wanted, rows);
    return rv == APR_SUCCESS && read->with != NULL
               ? database_changes_understand(c, read->with, wanted, read->with->changes)
               : rv;
}

/* Reads the changes since the cursor, or finds that they are not known any more. */
static apr_status_t read_since(sql_call_t *c, database_change_read_t *read, const database_wanted_t *wanted,
                               const database_cursor_t *cursor)
{
    json_t *rows = NULL;
    apr_status_t rv = wanted->alone ? APR_SUCCESS : open_snapshot(c, read);

    read->span.since = cursor->position;
    if (rv == APR_SUCCESS) {
        rv = database_changes_fetch(c, read, wanted, &rows);
    }
    if (rv == APR_SUCCESS && read->watch_id != NULL) {
        rv = understand_tables(c, read, wanted);
    }
    if (rv == APR_SUCCESS && read->watch_id != NULL && reaches_back(c, read, cursor->watch_id)) {
        read->reset = is_too_much(read, wanted, rows);
        if (!read->reset) {
            rv = understand_changes(c, read, wanted, rows);
        }
    }
    json_decref(rows);
    return rv;
}

/* Changes from before the table was altered may not fit its columns: then they are treated as unknown. */
static apr_status_t give_up_changes(sql_call_t *c, database_change_read_t *read)
{
    if (read->open) {
        sql_conn_rollback(c);
        read->open = 0;
    }
    json_decref(read->changes);
    read->changes = NULL;
    return c->conn->broken ? APR_EAGAIN : APR_SUCCESS;
}

/* ------------------------------------------------------------ begin */

static void parse_cursor(sql_call_t *c, const char *text, database_cursor_t *cursor)
{
    const char *ring = text != NULL && text[0] == CURSOR_MARK ? strchr(text, ':') : NULL;
    const char *position = ring != NULL ? strchr(ring + 1, ':') : NULL;

    *cursor = (database_cursor_t){0};
    if (position == NULL || !log_dialect_is_position(c, position + 1)) {
        return;
    }
    cursor->watch_id = apr_pstrmemdup(c->pool, text + 1, (apr_size_t)(ring - text) - 1);
    cursor->position = apr_pstrdup(c->pool, position + 1);
    database_cursor_read_offset(cursor, ring + 1);
}

/* @return 1: done */
static int find_in_ring(sql_call_t *c, database_change_read_t *read, const database_wanted_t *wanted,
                        const database_cursor_t *cursor)
{
    read->why = LOG_WHY_FIRST;
    if (cursor->position == NULL || !database_change_read_in_ring(c, read, wanted, cursor, &read->why)) {
        return 0;
    }
    log_shared_count_ring((const change_log_t *)c->db);
    return 1;
}

/* Called when the database has answered. */
static void count_sql(const sql_call_t *c, const database_change_read_t *read)
{
    log_shared_count_sql((const change_log_t *)c->db, read->watch_id != NULL ? read->why : LOG_WHY_UNWATCHED);
}

/* The page's cursor, without the note. NULL: it has none. */
static const char *own_cursor(const sql_call_t *c)
{
    const char *text = c->db->host->cursor_get(c->call);
    const char *end = text != NULL && text[0] == NOTE_MARK ? strchr(text, ':') : NULL;

    return end != NULL ? end + 1 : text;
}

const char *database_change_read_note(const sql_call_t *c)
{
    const char *text = c->db->host->cursor_get(c->call);
    const char *end = text != NULL && text[0] == NOTE_MARK ? strchr(text, ':') : NULL;

    return end != NULL ? apr_pstrmemdup(c->pool, text + 1, (apr_size_t)(end - text) - 1) : NULL;
}

/* A page without a cursor may belong to a user with a stored position. */
static apr_status_t find_page(sql_call_t *c, database_change_read_t *read, const database_wanted_t *wanted)
{
    const char *own = own_cursor(c);
    const char *text = own;
    database_cursor_t cursor;
    apr_status_t rv = APR_SUCCESS;

    read->was_absent = database_change_read_was_absent(c);
    if (own == NULL && read->subscription != NULL) {
        rv = database_subscription_recall(c, read->subscription, &text);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    parse_cursor(c, text, &cursor);
    if (wanted->anew || log_ring_has_lost(&read->head, cursor.boot)) {
        cursor.position = NULL;
    }
    cursor.boot = own != NULL ? cursor.boot : 0; /* the first view of a page shows the current rows */
    if (!read->is_numbered && find_in_ring(c, read, wanted, &cursor)) {
        return APR_SUCCESS;
    }
    if (cursor.position != NULL) {
        rv = read_since(c, read, wanted, &cursor);
        rv = rv == APR_EINVAL || rv == APR_EGENERAL ? give_up_changes(c, read) : rv;
    }
    if (rv == APR_SUCCESS && read->changes == NULL && !read->is_crowded) {
        read->reset |= own != NULL && !read->was_absent;
        rv = read_anew(c, read, wanted);
    }
    if (rv == APR_SUCCESS && !read->is_crowded) {
        count_sql(c, read);
    }
    return rv;
}

/* Calls find_page. On MariaDB changes may have to be numbered first, to make positions short. */
static apr_status_t find_page_numbered(sql_call_t *c, database_change_read_t *read, const database_wanted_t *wanted)
{
    database_change_read_t again = *read;
    apr_status_t rv = find_page(c, read, wanted);

    if (rv == APR_SUCCESS && read->is_crowded) {
        again.is_numbered = 1;
        again.why = read->why;
        rv = database_change_read_end(c, read, rv);
        *read = again;
        rv = rv == APR_SUCCESS ? read->dialect->assign_numbers(c, c->db->timeout, NULL) : rv;
        rv = rv == APR_SUCCESS ? find_page(c, read, wanted) : rv;
    }
    return rv;
}

/* The connection has been taken. */
static apr_status_t begin(sql_call_t *c, database_change_read_t *read, const char *table,
                          const database_wanted_t *wanted)
{
    int has = 0;
    apr_status_t rv = wanted->with != NULL ? sql_catalogue_find(c, wanted->with) : APR_SUCCESS;

    read->with_table = c->table;
    if (rv == APR_SUCCESS) {
        rv = sql_catalogue_find(c, table);
        read->table = c->table;
    }
    if (rv == APR_SUCCESS && read->dialect != NULL) {
        has = sql_catalogue_knows(c, "vault_watched");
        rv = has ? rv : sql_catalogue_has(c, "vault_watched", &has);
    }
    if (rv == APR_SUCCESS) {
        rv = has ? find_page_numbered(c, read, wanted) : open_snapshot(c, read);
    }
    if (rv == APR_SUCCESS && !has) {
        count_sql(c, read);
    }
    return rv == APR_SUCCESS ? rv : database_change_read_end(c, read, rv);
}

int database_change_read_was_absent(const sql_call_t *c)
{
    const char *own = own_cursor(c);

    return own != NULL && own[0] == ABSENT_MARK;
}

apr_status_t database_change_read_begin(sql_call_t *c, database_change_read_t *read, const char *table,
                                        const database_wanted_t *wanted)
{
    database_change_read_t fresh = {.dialect = log_dialect_of(c->db)};
    apr_status_t rv = database_subscription_id(c, &fresh.subscription);

    fresh.began = vault_now();
    log_ring_head(log_shared_ring((const change_log_t *)c->db), &fresh.head);
    if (rv == APR_SUCCESS) {
        rv = sql_conn_take(c);
    }
    *read = fresh;
    if (rv != APR_SUCCESS) {
        return rv;
    }
    sql_catalogue_assume(c, read->dialect != NULL && read->dialect->columns != NULL);
    rv = sql_catalogue_assure(c, begin(c, read, table, wanted));
    if (rv == SQL_STALE) {
        *read = fresh;
        rv = begin(c, read, table, wanted);
    }
    if (rv == APR_SUCCESS && read->watch_id != NULL && c->table->keys->nelts == 0) {
        return database_change_read_end(c, read, refuse_without_key(c, table));
    }
    return rv != SQL_STALE ? rv
                           : sql_fail(c, APR_EAGAIN, "the tables of \"%s\" were altered meanwhile", c->db->database);
}

apr_status_t database_change_read_not_watched(sql_call_t *c, const char *table)
{
    return sql_fail(c, APR_EINVAL, "table \"%s\" is not watched, so its changes are not known: vaultctl watch %s",
                    sql_shown(c, table), sql_shown(c, table));
}

apr_status_t database_change_read_begin_watched(sql_call_t *c, database_change_read_t *read, const char *table,
                                                const database_wanted_t *wanted)
{
    apr_status_t rv = database_change_read_begin(c, read, table, wanted);

    if (rv == APR_SUCCESS && read->watch_id == NULL) {
        return database_change_read_end(c, read, database_change_read_not_watched(c, table));
    }
    if (rv == APR_SUCCESS && read->altered) {
        return database_change_read_end(c, read, database_change_read_altered(c, table));
    }
    return rv;
}

apr_status_t database_change_read_end(sql_call_t *c, database_change_read_t *read, apr_status_t rv)
{
    forget_with(read);
    json_decref(read->changes);
    read->changes = NULL;
    json_decref(read->elements);
    read->elements = NULL;
    return read->open ? sql_conn_end(c, rv) : rv;
}

void database_call_reset(sql_call_t *c)
{
    const vault_host_t *host = c->db->host;

    if (host->size > offsetof(vault_host_t, reset)) {
        host->reset(c->call);
    }
}

/* A position within a batch is not a set: its page queries the database again. */
static const char *offset_in_ring(const sql_call_t *c, const database_change_read_t *read)
{
    const log_position_type_t *type = read->dialect->position;
    log_position_t position;

    if (read->again || !type->read(&position, read->next)) {
        return "-";
    }
    return database_cursor_offset(&read->head, c->pool);
}

apr_status_t database_change_read_keep(sql_call_t *c, const database_change_read_t *read)
{
    const char *note = read->note != NULL ? apr_psprintf(c->pool, "%c%s:", NOTE_MARK, read->note) : "";
    const char *cursor = apr_psprintf(c->pool, "%s%c%s:%s:%s", note, read->is_absent ? ABSENT_MARK : CURSOR_MARK,
                                      read->watch_id, offset_in_ring(c, read), read->next);

    if (read->reset) {
        database_call_reset(c);
    }
    /* MariaDB: many changes have no number, because another process was numbering changes until now. The page asks
     * again. */
    if (strlen(cursor) > VAULT_PROPERTY_VALUE_MAX) {
        return sql_fail(c, APR_EAGAIN, "more changes were committed at once than a position has room for");
    }
    if (c->db->host->cursor_set(c->call, cursor) != APR_SUCCESS) {
        return sql_fail(c, APR_EGENERAL, "the page's position cannot be kept");
    }
    return read->subscription != NULL ? database_subscription_keep(c, read->subscription, cursor, read->next)
                                      : APR_SUCCESS;
}
