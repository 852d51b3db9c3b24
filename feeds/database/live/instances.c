/* SPDX-License-Identifier: Apache-2.0 */
/* New rows, changes of one row, changes of one attribute. */
#include "database/live/instances.h"

#include <stdlib.h>
#include <string.h>

#include "apr_hash.h"

#include "database/rows/arguments.h"
#include "database/rows/fold.h"
#include "database/rows/interests.h"
#include "database/rows/select.h"
#include "sql/argument.h"
#include "sql/catalogue.h"
#include "sql/connection.h"

/* ------------------------------------------------------------ new rows */

/* The keys of rows that were inserted, in this order, each once. */
static json_t *keys_of(sql_call_t *c, const json_t *changes)
{
    apr_hash_t *seen = apr_hash_make(c->pool);
    json_t *keys = json_array();

    for (size_t i = 0; i < json_array_size(changes); i++) {
        const json_t *change = json_array_get(changes, i);
        const char *text = json_string_value(json_object_get(change, "key"));

        if (text == NULL || strcmp(json_string_value(json_object_get(change, "op")), "I") != 0) {
            continue; /* SQLite has rows without a key: they cannot be found */
        }
        if (apr_hash_get(seen, text, APR_HASH_KEY_STRING) == NULL) {
            json_t *key = database_key_values(c->table->keys, json_object_get(change, "new"));

            apr_hash_set(seen, text, APR_HASH_KEY_STRING, text);
            if (key != NULL) {
                json_array_append_new(keys, key);
            }
        }
    }
    return keys;
}

/* Sorts rows into the order of `keys`. Keys of deleted rows are left out. */
static json_t *in_order(sql_call_t *c, json_t *rows, const json_t *keys)
{
    apr_hash_t *by_key = apr_hash_make(c->pool);
    json_t *ordered = json_array();

    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        const char *key = database_key_of(c->table->keys, row, c->pool);

        if (key != NULL) {
            apr_hash_set(by_key, key, APR_HASH_KEY_STRING, row);
        }
    }
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const char *key = database_key_join(json_array_get(keys, i), c->pool);

        if (key != NULL) {
            json_array_append(ordered, apr_hash_get(by_key, key, APR_HASH_KEY_STRING));
        }
    }
    json_decref(rows);
    return ordered;
}

/* The rows as in their last images, for a read that has only the changes. If several rows have one key, the last one
 * counts, as in in_order(). */
static json_t *last_rows(const json_t *changes)
{
    json_t *rows = json_array(), *by_key = json_object(), *row;
    const char *key;

    for (size_t i = 0; i < json_array_size(changes); i++) {
        const json_t *change = json_array_get(changes, i);

        if ((key = json_string_value(json_object_get(change, "key"))) != NULL) {
            json_object_set(by_key, key, json_object_get(change, "new"));
        }
    }
    json_object_foreach(by_key, key, row)
    {
        if (json_is_object(row)) {
            json_array_append(rows, row);
        }
    }
    json_decref(by_key);
    return rows;
}

static apr_status_t fetch_inserted(sql_call_t *c, const database_change_read_t *read, json_t **rows)
{
    json_t *keys = keys_of(c, read->changes);
    apr_status_t rv = APR_SUCCESS;

    if (read->is_from_ring) {
        *rows = last_rows(read->changes);
    }
    else {
        rv = database_select_keys(c, keys, "", rows);
    }
    if (rv == APR_SUCCESS) {
        *rows = in_order(c, *rows, keys);
    }
    json_decref(keys);
    return rv;
}

apr_status_t database_instances_new(sql_call_t *c, database_change_read_t *read, int limit, const char *interest,
                                    json_t **rows)
{
    apr_status_t rv = read->span.since != NULL ? fetch_inserted(c, read, rows)
                                               : database_select_newest(c, limit != 0 ? limit : c->db->rows, rows);

    if (rv == APR_SUCCESS) {
        rv = database_change_read_keep(c, read);
    }
    if (rv == APR_SUCCESS && json_array_size(*rows) == 0 && !read->reset) {
        json_decref(*rows);
        *rows = NULL;
    }
    if (rv == APR_SUCCESS && read->again) {
        /* Notify of the rows that were left out: the new stamp is later than that of this run, so the page reads
         * again. */
        (void)sql_notify_local(c->db, interest);
    }
    return rv;
}

/* ------------------------------------------------------------ one row */

void database_seen_free(database_seen_t *seen)
{
    json_decref(seen->row);
    json_decref(seen->old);
    seen->row = NULL;
    seen->old = NULL;
}

static void see_changes(sql_call_t *c, const database_change_read_t *read, database_seen_t *seen)
{
    const apr_array_header_t *rows = database_fold(read->changes, c->pool);

    seen->changed = rows->nelts > 0;
    if (seen->changed) {
        seen->old = json_incref((json_t *)(uintptr_t)APR_ARRAY_IDX(rows, 0, database_fold_t).old);
    }
    if (seen->changed && read->is_from_ring) {
        seen->row = json_incref((json_t *)(uintptr_t)APR_ARRAY_IDX(rows, 0, database_fold_t).new);
    }
}

/* @param holds_table  the page holds the interest of the table as well */
static apr_status_t see(sql_call_t *c, database_change_read_t *read, const char *text, int holds_table,
                        database_seen_t *seen)
{
    database_key_t key;
    apr_status_t rv = database_key_parse(c, c->about.kind != NULL ? "id" : "key", c->table->keys, text, &key);

    if (rv != APR_SUCCESS) {
        return rv;
    }

    seen->first = read->span.since == NULL;
    seen->reset = read->reset;
    seen->changed = seen->first;
    if (!seen->first) {
        see_changes(c, read, seen);
    }
    else {
        rv = database_check_name(c, &key);
    }
    if (rv == APR_SUCCESS && seen->changed && !read->is_from_ring) {
        rv = database_select_row(c, &key, &seen->row);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    read->is_absent = seen->changed && seen->row == NULL && database_has_spellings(c, &key);
    seen->is_absent = read->is_absent;
    seen->changed &= seen->row != NULL || !read->was_absent;
    return read->is_absent && !holds_table ? APR_SUCCESS : database_change_read_keep(c, read);
}

static apr_status_t see_once(sql_call_t *c, const char *table, const char *key, int holds_table, database_seen_t *seen)
{
    const database_wanted_t wanted = {.key = key, .most = c->db->rows};
    database_change_read_t read;
    apr_status_t rv = database_change_read_begin_watched(c, &read, table, &wanted);

    return rv == APR_SUCCESS ? database_change_read_end(c, &read, see(c, &read, key, holds_table, seen)) : rv;
}

apr_status_t database_see_row(sql_call_t *c, const char *table, const char *key, database_seen_t *seen)
{
    const char *all = database_interest_table(table, c->pool);
    int was_absent = database_change_read_was_absent(c);
    int needed = 0, of_table = 0;
    apr_status_t rv = database_interest_create(c, database_interest_row(table, key, c->pool), &needed);

    memset(seen, 0, sizeof(*seen));
    if (rv == APR_SUCCESS && was_absent) {
        rv = database_interest_create(c, all, &of_table);
    }
    if (rv != APR_SUCCESS || !(needed || of_table)) {
        return rv;
    }
    rv = see_once(c, table, key, was_absent, seen);
    if (rv == APR_SUCCESS && seen->is_absent && !was_absent) {
        /* The row may be inserted with a key that is written in another way. Read again, now that the page holds this
         * interest. */
        database_seen_free(seen);
        sql_conn_give_back(c);
        memset(seen, 0, sizeof(*seen));
        rv = database_interest_create(c, all, &of_table);
        rv = rv == APR_SUCCESS ? see_once(c, table, key, 1, seen) : rv;
    }
    return rv;
}

json_t *database_seen_attribute(const database_seen_t *seen, const char *column, const char *kind, const char *shown)
{
    json_t *old = json_object_get(seen->old, column);
    json_t *new = json_object_get(seen->row, column);
    json_t *said;

    if (!seen->first && old != NULL && new != NULL &&json_equal(old, new)) {
        return NULL;
    }
    said = json_pack("{s:s,s:O?,s:O?}", kind, shown, "old", old, "new", new);
    if (said != NULL && seen->reset) {
        json_object_set_new(said, "reset", json_true());
    }
    return said;
}

apr_status_t database_modified_instance_body(sql_call_t *c, const char *table, json_t **rows)
{
    database_seen_t seen;
    const char *key;
    apr_status_t rv = database_argument_text(c, "key", &key);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = database_see_row(c, table, key, &seen);
    if (rv == APR_SUCCESS && seen.changed) {
        *rows = json_array();
        json_array_append(*rows, seen.row);
    }
    database_seen_free(&seen);
    return rv;
}

/* ------------------------------------------------------------ an attribute */

static apr_status_t check_attribute(sql_call_t *c, const char *attribute)
{
    return sql_table_column_named(c->table, attribute) != NULL
               ? APR_SUCCESS
               : sql_fail(c, APR_EINVAL, "argument \"attribute\": table \"%s\" has no column \"%s\"",
                          sql_shown(c, c->table->name), sql_shown(c, attribute));
}

/* The attribute of one row. */
static apr_status_t see_attribute(sql_call_t *c, const char *table, const char *key, const char *attribute,
                                  json_t **rows)
{
    database_seen_t seen;
    apr_status_t rv = database_see_row(c, table, key, &seen);

    if (rv == APR_SUCCESS && seen.changed) {
        rv = check_attribute(c, attribute);
    }
    if (rv == APR_SUCCESS && seen.changed) {
        json_t *said = database_seen_attribute(&seen, attribute, "attribute", attribute);

        *rows = said != NULL ? json_array() : NULL;
        if (said != NULL) {
            json_array_append_new(*rows, said);
        }
    }
    database_seen_free(&seen);
    return rv;
}

/* Describes a row before and after. @param old, new  rows; NULL: the row did not exist, does not exist */
static void say_attribute(const sql_call_t *c, const char *attribute, const json_t *old, const json_t *new,
                          json_t *rows)
{
    json_t *was = json_object_get(old, attribute), *is = json_object_get(new, attribute);
    json_t *said;

    if (old != NULL && new != NULL && json_equal(was, is)) {
        return;
    }
    said = json_pack("{s:o,s:s,s:O?,s:O?}", "id", database_key_shown(c->table, new != NULL ? new : old, c->pool),
                     "attribute", attribute, "old", was, "new", is);
    if (old == NULL || new == NULL) {
        json_object_set_new(said, old == NULL ? "added" : "removed", json_true());
    }
    json_array_append_new(rows, said);
}

/* As for a first view. SQLite has rows without a key, which no call identifies. */
static apr_status_t say_all(sql_call_t *c, const char *attribute, int most, json_t *said)
{
    json_t *rows = NULL;
    apr_status_t rv = database_select_newest(c, most, &rows);

    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);

        if (database_key_of(c->table->keys, row, c->pool) != NULL) {
            say_attribute(c, attribute, NULL, row, said);
        }
    }
    json_decref(rows);
    return rv;
}

static void say_changes(sql_call_t *c, const char *attribute, const json_t *changes, json_t *said)
{
    const apr_array_header_t *folded = database_fold(changes, c->pool);

    for (int i = 0; i < folded->nelts; i++) {
        const database_fold_t *row = &APR_ARRAY_IDX(folded, i, database_fold_t);

        say_attribute(c, attribute, row->old, row->new, said);
    }
}

static apr_status_t see_column(sql_call_t *c, const database_change_read_t *read, const char *attribute, int most,
                               json_t **rows)
{
    json_t *said = json_array();
    apr_status_t rv = check_attribute(c, attribute);

    if (rv == APR_SUCCESS && read->span.since != NULL) {
        say_changes(c, attribute, read->changes, said);
    }
    else if (rv == APR_SUCCESS) {
        rv = say_all(c, attribute, most, said);
    }
    if (rv == APR_SUCCESS) {
        rv = database_change_read_keep(c, read);
    }
    if (rv == APR_SUCCESS && (json_array_size(said) > 0 || read->reset)) {
        *rows = json_incref(said);
    }
    json_decref(said);
    return rv;
}

/* The attribute of all rows. */
static apr_status_t see_attributes(sql_call_t *c, const char *table, const char *attribute, json_t **rows)
{
    const database_wanted_t wanted = {.attribute = attribute, .most = c->db->rows};
    database_change_read_t read;
    int limit, needed = 0;
    apr_status_t rv = sql_argument_number(c, "limit", 1, c->db->rows, &limit);

    if (rv == APR_SUCCESS) {
        rv = database_interest_create(c, database_interest_column(table, attribute, c->pool), &needed);
    }
    if (rv == APR_SUCCESS && needed) {
        rv = database_change_read_begin_watched(c, &read, table, &wanted);
        if (rv == APR_SUCCESS) {
            rv = see_column(c, &read, attribute, limit != 0 ? limit : c->db->rows, rows);
            rv = database_change_read_end(c, &read, rv);
        }
    }
    return rv;
}

apr_status_t database_attribute_changes_body(sql_call_t *c, const char *table, json_t **rows)
{
    const char *key, *attribute;
    apr_status_t rv = database_argument_text(c, "attribute", &attribute);

    if (rv == APR_SUCCESS && json_object_get(c->args, "key") == NULL) {
        return see_attributes(c, table, attribute, rows);
    }
    if (rv == APR_SUCCESS) {
        rv = database_argument_text(c, "key", &key);
    }
    if (rv == APR_SUCCESS && json_object_get(c->args, "limit") != NULL) {
        rv = sql_fail(c, APR_EINVAL, "argument \"limit\" is for all rows: with \"key\" there is one");
    }
    return rv == APR_SUCCESS ? see_attribute(c, table, key, attribute, rows) : rv;
}
