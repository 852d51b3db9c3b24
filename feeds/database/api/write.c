/* SPDX-License-Identifier: Apache-2.0 */
/* save, update, delete. The rows before and after the write determine which interests are notified. */
#include "database/api/write.h"

#include <string.h>

#include "apr_hash.h"

#include "database/changes/change_read.h"
#include "database/rows/arguments.h"
#include "database/rows/fold.h"
#include "database/rows/interests.h"
#include "database/rows/keys.h"
#include "database/rows/select.h"
#include "log/dialect.h"
#include "log/shared.h"
#include "sql/catalogue.h"
#include "sql/connection.h"
#include "sql/rows.h"

/* A write in a transaction. */
typedef struct write_t {
    sql_call_t *c;
    log_touched_t *touched;
    int is_watched;   /* the tailer notifies of the write */
    json_t *answer;   /* a reference */
    json_t *inserted; /* a reference: the row; NULL: none, or it is unknown */
} write_t;

typedef apr_status_t (*write_fn)(write_t *w);

static apr_status_t find_table(sql_call_t *c, const char *table, int by_key)
{
    apr_status_t rv = sql_catalogue_find(c, table);

    if (rv == APR_SUCCESS && c->table->is_view) {
        rv = sql_fail(c, APR_EINVAL, "\"%s\" is a view: rows are saved in tables", sql_shown(c, table));
    }
    if (rv == APR_SUCCESS && by_key && c->table->keys->nelts == 0) {
        rv = sql_fail(c, APR_EINVAL, "table \"%s\" has no primary key, so its rows cannot be identified",
                      sql_shown(c, table));
    }
    return rv;
}

/* If the table is watched, the tailer notifies, also of what triggers have written to other tables. Without a tailer,
 * and for other tables, the writer notifies. It does so also if it is unknown whether the commit succeeded: an
 * extraneous notify does no harm, a lost one does. */
static apr_status_t commit(write_t *w)
{
    const change_log_t *feed = (const change_log_t *)w->c->db;
    apr_uint64_t boot = log_shared_boot(feed);
    apr_status_t rv = sql_conn_commit(w->c);

    if (rv == APR_SUCCESS) {
        sql_conn_give_back(w->c); /* the calls of others need not wait for the tailer */
    }
    /* In another boot of the ring the table may not be watched any more. */
    if (rv != APR_SUCCESS || !w->is_watched || !log_shared_ask(feed) || log_shared_boot(feed) != boot) {
        (void)log_touched_notify(w->touched);
    }
    return rv;
}

static const char *key_of(const write_t *w, const json_t *row)
{
    return w->c->table->keys->nelts > 0 ? database_key_of(w->c->table->keys, row, w->c->pool) : NULL;
}

static void touch_inserted(write_t *w)
{
    if (w->inserted != NULL) {
        database_touched_row(w->touched, w->c->table->name, key_of(w, w->inserted), NULL, w->inserted);
    }
    json_decref(w->inserted);
}

/* Finds out whether the table is watched and there is a tailer. */
static apr_status_t find_whether_watched(write_t *w)
{
    int has = 0;
    apr_status_t rv = APR_SUCCESS;

    if (log_dialect_of(w->c->db) == NULL || ((const change_log_t *)w->c->db)->poll == 0) {
        return APR_SUCCESS;
    }
    rv = sql_catalogue_has(w->c, "vault_watched", &has);
    return rv == APR_SUCCESS && has ? log_dialect_is_watched(w->c, &w->is_watched) : rv;
}

/* The table is looked up within the transaction, which costs less; the result is valid until its end.
 * @param by_key  the table must have a primary key */
static apr_status_t write_in_transaction(write_t *w, const char *table, int by_key, write_fn body)
{
    sql_call_t *c = w->c;
    apr_status_t rv = sql_conn_begin_write(c);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = find_table(c, table, by_key);
    if (rv == APR_SUCCESS) {
        rv = body(w);
    }
    if (rv == APR_SUCCESS) {
        rv = find_whether_watched(w);
    }
    touch_inserted(w);
    if (rv == APR_SUCCESS) {
        rv = commit(w);
    }
    if (rv != APR_SUCCESS) {
        sql_conn_rollback(c);
    }
    return rv;
}

/* The cached tables are dropped when a statement does not find one of their columns. If a trigger does not find a
 * column, each write fails until vaultctl watch creates the trigger again. */
static int may_be_altered(const sql_call_t *c, apr_status_t rv)
{
    return rv == APR_EAGAIN && c->table != NULL && c->conn->tables == NULL && !c->conn->broken;
}

static apr_status_t write_rows(sql_call_t *c, const char *table, int by_key, write_fn body, json_t **rows)
{
    write_t w = {.c = c, .touched = log_touched_make((const change_log_t *)c->db, c->pool)};
    apr_status_t rv;

    rv = sql_conn_take(c);
    if (rv == APR_SUCCESS) {
        rv = write_in_transaction(&w, table, by_key, body);
        if (may_be_altered(c, rv)) {
            apr_status_t why = database_watching_check_columns(c, table);

            rv = why != APR_SUCCESS ? why : rv;
        }
    }
    if (rv != APR_SUCCESS) {
        json_decref(w.answer);
        return rv;
    }
    *rows = w.answer;
    return APR_SUCCESS;
}

/* ------------------------------------------------------------ save */

/* Takes the inserted row. */
typedef struct arriving_t {
    write_t *w;
    const char *const *names;
    int failed; /* out of memory */
} arriving_t;

static int take_cb(void *data, const char *const *cells)
{
    arriving_t *arriving = data;
    write_t *w = arriving->w;

    if (w->inserted == NULL) {
        w->inserted = sql_row_json(arriving->names, cells);
        arriving->failed = w->inserted == NULL;
    }
    return !arriving->failed;
}

static apr_status_t insert(write_t *w)
{
    sql_call_t *c = w->c;
    sql_statement_t *sql = sql_statement(c, "INSERT INTO %t", c->table->name);
    arriving_t arriving = {.w = w, .names = sql_column_names(c)};
    apr_status_t rv = database_argument_values(c, sql);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    for (int i = 0; i < c->table->columns->nelts; i++) {
        const sql_column_t *column = sql_table_column(c->table, i);

        sql_raw(sql, i == 0 ? " RETURNING " : ",");
        sql_cell(sql, NULL, column->name, column->kind);
    }
    rv = sql_conn_run(c, sql, take_cb, &arriving);
    if (rv == APR_SUCCESS && arriving.failed) {
        rv = sql_fail(c, APR_ENOMEM, "out of memory for rows");
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    database_touched_table(w->touched, c->table->name);
    w->answer = json_pack("[{s:o}]", "id", database_key_shown(c->table, w->inserted, c->pool));
    return APR_SUCCESS;
}

apr_status_t database_save_body(sql_call_t *c, const char *table, json_t **rows)
{
    return write_rows(c, table, 0, insert, rows);
}

/* ------------------------------------------------------------ update, delete */

/* Selects the rows of the call, and locks them until the end of the transaction. */
static apr_status_t select_meant(write_t *w, json_t **rows)
{
    sql_call_t *c = w->c;
    sql_statement_t *sql = sql_statement_make(c);
    apr_status_t rv;

    sql_select_table(sql, c->table);
    rv = database_argument_which(c, sql);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    sql_raw(sql, c->db->driver->is_server ? " FOR UPDATE" : "");
    return database_select(c, sql, rows);
}

/* The keys of rows. SQLite has rows without a key, which are left out. */
static json_t *keys_of(const write_t *w, const json_t *rows)
{
    json_t *keys = json_array();

    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *key = database_key_values(w->c->table->keys, json_array_get(rows, i));

        if (key != NULL) {
            json_array_append_new(keys, key);
        }
    }
    return keys;
}

/* Runs `verb` on all rows with these keys. */
static apr_status_t run_on_keys(write_t *w, const char *verb, const json_t *keys)
{
    sql_call_t *c = w->c;
    int deletes = verb[0] == 'D';
    apr_status_t rv = APR_SUCCESS;

    for (size_t i = 0; i < json_array_size(keys) && rv == APR_SUCCESS;) {
        sql_statement_t *sql = sql_statement(c, "%r%t", verb, c->table->name);

        if (!deletes) {
            rv = database_argument_set(c, sql);
        }
        sql_raw(sql, " WHERE ");
        i += database_append_keys(c, sql, c->table->keys, keys, i);
        if (rv == APR_SUCCESS) {
            rv = sql_conn_run(c, sql, NULL, NULL);
        }
    }
    return rv;
}

static void touch_deleted(write_t *w, const json_t *rows)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);

        database_touched_row(w->touched, w->c->table->name, key_of(w, row), row, NULL);
    }
}

static apr_status_t delete_rows(write_t *w)
{
    json_t *rows = NULL;
    json_t *keys;
    apr_status_t rv = select_meant(w, &rows);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    keys = keys_of(w, rows);
    rv = run_on_keys(w, "DELETE FROM ", keys);
    if (rv == APR_SUCCESS) {
        touch_deleted(w, rows);
        w->answer = json_pack("[{s:I}]", "deleted", (json_int_t)json_array_size(keys));
    }
    json_decref(keys);
    json_decref(rows);
    return rv;
}

/* If a key changes, this counts as one row that was deleted and one that was inserted. */
static void touch_updated(write_t *w, const json_t *old_rows, const json_t *new_rows)
{
    const char *table = w->c->table->name;
    apr_hash_t *by_key = apr_hash_make(w->c->pool);

    for (size_t i = 0; i < json_array_size(old_rows); i++) {
        const json_t *row = json_array_get(old_rows, i);
        const char *key = key_of(w, row);

        if (key != NULL) {
            apr_hash_set(by_key, key, APR_HASH_KEY_STRING, row);
        }
    }
    for (size_t i = 0; i < json_array_size(new_rows); i++) {
        const json_t *row = json_array_get(new_rows, i);
        const char *key = key_of(w, row);
        const json_t *old = apr_hash_get(by_key, key, APR_HASH_KEY_STRING);

        if (old == NULL || !json_equal(old, row)) {
            database_touched_row(w->touched, table, key, old, row);
        }
        apr_hash_set(by_key, key, APR_HASH_KEY_STRING, NULL);
    }
    for (apr_hash_index_t *i = apr_hash_first(w->c->pool, by_key); i != NULL; i = apr_hash_next(i)) {
        database_touched_row(w->touched, table, apr_hash_this_key(i), apr_hash_this_val(i), NULL);
    }
}

/* Adds the keys that the rows have after the update: each old key with the values that were set. */
static void add_new_keys(const write_t *w, json_t *keys)
{
    const apr_array_header_t *columns = w->c->table->keys;
    const json_t *values = json_object_get(w->c->args, "values");
    size_t count = json_array_size(keys);

    for (size_t i = 0; i < count; i++) {
        json_t *key = json_copy(json_array_get(keys, i));

        for (int k = 0; k < columns->nelts; k++) {
            json_t *value = json_object_get(values, database_key_column(columns, k));

            if (value != NULL) {
                json_array_set(key, (size_t)k, value);
            }
        }
        /* If several rows were set to the same key, it is added once. */
        if (!json_equal(key, json_array_get(keys, i)) &&
            !json_equal(key, json_array_get(keys, json_array_size(keys) - 1))) {
            json_array_append(keys, key);
        }
        json_decref(key);
    }
}

static apr_status_t update_rows(write_t *w)
{
    json_t *old_rows = NULL;
    json_t *new_rows = NULL;
    json_t *keys;
    size_t count;
    apr_status_t rv = select_meant(w, &old_rows);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    keys = keys_of(w, old_rows);
    count = json_array_size(keys);
    rv = count > 0 ? run_on_keys(w, "UPDATE ", keys) : database_argument_set(w->c, sql_statement_make(w->c));
    if (rv == APR_SUCCESS && count > 0) {
        add_new_keys(w, keys);
        rv = database_select_keys(w->c, keys, "", &new_rows);
    }
    if (rv == APR_SUCCESS) {
        touch_updated(w, old_rows, new_rows);
        w->answer = json_pack("[{s:I}]", "updated", (json_int_t)count);
    }
    json_decref(keys);
    json_decref(old_rows);
    json_decref(new_rows);
    return rv;
}

apr_status_t database_update_body(sql_call_t *c, const char *table, json_t **rows)
{
    return write_rows(c, table, 1, update_rows, rows);
}

apr_status_t database_delete_body(sql_call_t *c, const char *table, json_t **rows)
{
    return write_rows(c, table, 1, delete_rows, rows);
}
