/* SPDX-License-Identifier: Apache-2.0 */
/* What is new for a page, from the ring: see change_read_ring.h. */
#include "database/changes/change_read_ring.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "apr_lib.h"
#include "apr_strings.h"

#include "log/image.h"

void database_cursor_read_offset(database_cursor_t *cursor, const char *text)
{
    char *at;

    cursor->boot = strtoull(text, &at, 16);
    cursor->offset = *at == '.' ? strtoull(at + 1, &at, 10) : 0;
    if (*at != ':') {
        cursor->boot = 0;
    }
}

const char *database_cursor_offset(const log_head_t *head, apr_pool_t *pool)
{
    return head->boot == 0 ? "-"
                           : apr_psprintf(pool, "%" PRIx64 ".%" PRIu64, (uint64_t)head->boot, (uint64_t)head->end);
}

/* Reads the ring from the page's position to its head. */
typedef struct walk_t {
    sql_call_t *c;
    const database_wanted_t *wanted;
    const char *within; /* an image that does not contain this text has another key; NULL: unknown */
    const log_position_type_t *type;
    log_position_t position; /* the page's */
    json_t *changes;
    apr_uint64_t shape;
    log_why_t why;
} walk_t;

/* Is it a text that every database writes in JSON without escapes? */
static int is_simple(const char *text)
{
    for (; *text != '\0'; text++) {
        if (!apr_isalnum(*text) && *text != '-' && *text != '_') {
            return 0;
        }
    }
    return 1;
}

/* A value that is in each image of a row with this key. */
static const char *within(const sql_table_t *table, const database_key_t *members)
{
    for (int i = 0; members != NULL && i < members->columns->nelts; i++) {
        const sql_column_t *column = sql_table_column_named(table, database_key_column(members->columns, i));

        if ((column->kind == SQL_TEXT || column->kind == SQL_INTEGER) && is_simple(members->values[i])) {
            return members->values[i];
        }
    }
    return NULL;
}

static int has_text(const char *image, const char *text)
{
    return image != NULL && strstr(image, text) != NULL;
}

/* May the change be wanted? Decided without reading its images. */
static int may_be_wanted(const walk_t *walk, const log_entry_t *entry)
{
    const database_wanted_t *wanted = walk->wanted;

    if (wanted->key != NULL && (entry->key == NULL || strcmp(entry->key, wanted->key) != 0)) {
        return 0;
    }
    return walk->within == NULL || has_text(entry->old, walk->within) || has_text(entry->new, walk->within);
}

/* Do the images differ in what is wanted? */
static int differs(const walk_t *walk, const json_t *change)
{
    const json_t *old = json_object_get(change, "old"), *new = json_object_get(change, "new");
    const char *attribute = walk->wanted->attribute;

    return attribute == NULL || !json_is_object(old) || !json_is_object(new) ||
           !json_equal(json_object_get(old, attribute), json_object_get(new, attribute));
}

static json_t *row_of(const char *image)
{
    return image != NULL ? log_image_row(image) : json_null();
}

static json_t *change_of(const log_entry_t *entry)
{
    return json_pack("{s:s,s:s?,s:o,s:o}", "op", entry->op, "key", entry->key, "old", row_of(entry->old), "new",
                     row_of(entry->new));
}

/* @return 0: its images cannot be read */
static int take_change(walk_t *walk, const log_entry_t *entry)
{
    const database_key_t *members = walk->wanted->members;
    json_t *change = change_of(entry);

    if (change == NULL) {
        return 0;
    }
    if ((members != NULL && !database_key_is_in(members, json_object_get(change, "old"), walk->c->pool) &&
         !database_key_is_in(members, json_object_get(change, "new"), walk->c->pool)) ||
        !differs(walk, change)) {
        json_decref(change);
        return 1;
    }
    return json_array_append_new(walk->changes, change) == 0;
}

/* @return 0: the database must be queried */
static int take_entry(walk_t *walk, const log_entry_t *entry)
{
    const char *with = walk->wanted->with;

    if (with != NULL && strcmp(entry->table, with) == 0 && !walk->type->contains(&walk->position, &entry->change)) {
        walk->why = LOG_WHY_LINKS;
        return 0;
    }
    if (strcmp(entry->table, walk->c->table->name) != 0 || walk->type->contains(&walk->position, &entry->change)) {
        return 1;
    }
    if (entry->shape != walk->shape) {
        walk->why = LOG_WHY_TOO_LARGE;
        return 0;
    }
    if (may_be_wanted(walk, entry) && !take_change(walk, entry)) {
        walk->why = LOG_WHY_TOO_LARGE;
        return 0;
    }
    if (with != NULL && json_array_size(walk->changes) > 0) {
        walk->why = LOG_WHY_LINKS;
        return 0;
    }
    walk->why = LOG_WHY_TOO_MANY;
    return json_array_size(walk->changes) <= (size_t)walk->wanted->most;
}

static int walk_through(walk_t *walk, const log_ring_t *ring, apr_uint64_t from, const log_head_t *head)
{
    apr_uint64_t offset = from;
    apr_pool_t *pool;
    int good = 1;

    apr_pool_create(&pool, walk->c->pool);
    while (good && offset < head->end) {
        log_entry_t entry;

        apr_pool_clear(pool);
        walk->why = LOG_WHY_OVERWRITTEN;
        good = log_ring_read(ring, &offset, &entry, pool) && take_entry(walk, &entry);
    }
    apr_pool_destroy(pool);
    return good;
}

/* The position after these entries. Entries also contain the numbers that changes have got meanwhile. */
static const char *position_after(walk_t *walk, const log_ring_t *ring, apr_uint64_t from, const log_head_t *head)
{
    log_position_t reached;
    apr_uint64_t offset = from;
    apr_pool_t *pool;

    if (!walk->type->read(&reached, head->position) || !walk->type->merge(&walk->position, &reached)) {
        return NULL;
    }
    if (walk->type->learn != NULL && walk->position.count > 0) {
        apr_pool_create(&pool, walk->c->pool);
        while (offset < head->end) {
            log_entry_t entry;

            apr_pool_clear(pool);
            if (!log_ring_read(ring, &offset, &entry, pool)) {
                return NULL;
            }
            walk->type->learn(&walk->position, &entry.change);
        }
        apr_pool_destroy(pool);
    }
    return walk->type->text(&walk->position, walk->c->pool);
}

/* The new changes of c->table. NULL: the database must be queried. */
static json_t *collect(walk_t *walk, const database_cursor_t *cursor, database_change_read_t *read)
{
    const log_ring_t *ring = log_shared_ring((const change_log_t *)walk->c->db);

    walk->changes = json_array();
    if (walk_through(walk, ring, cursor->offset, &read->head)) {
        walk->why = LOG_WHY_NOT_IN_RING;
        read->next = position_after(walk, ring, cursor->offset, &read->head);
        if (read->next != NULL) {
            return walk->changes;
        }
    }
    json_decref(walk->changes);
    return NULL;
}

int database_change_read_in_ring(sql_call_t *c, database_change_read_t *read, const database_wanted_t *wanted,
                                 const database_cursor_t *cursor, log_why_t *why)
{
    walk_t walk = {.c = c, .wanted = wanted, .type = read->dialect->position, .why = LOG_WHY_NOT_IN_RING};

    *why = LOG_WHY_NOT_IN_RING;
    if (cursor->boot == 0 || read->head.boot == 0 || !walk.type->read(&walk.position, cursor->position) ||
        c->table->keys->nelts == 0) {
        return 0;
    }
    if (cursor->boot != read->head.boot || cursor->offset > read->head.end) {
        *why = LOG_WHY_BOOT;
        return 0;
    }
    if (wanted->members != NULL && database_key_missing(wanted->members->columns, c->table) != NULL) {
        return 0;
    }
    walk.within = within(c->table, wanted->members);
    walk.shape = log_dialect_shape(c, c->table);
    read->changes = collect(&walk, cursor, read);
    *why = walk.why;
    if (read->changes == NULL) {
        return 0;
    }
    read->is_from_ring = 1;
    read->watch_id = cursor->watch_id;
    read->span.since = cursor->position;
    read->span.now = read->next;
    return 1;
}
