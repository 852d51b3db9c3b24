/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what a write has recorded, and marks it once it is announced.
 *
 * Rows that the writer knows are not enough: its statement may have set off triggers of the application's, and what was
 * recorded is what the watcher would announce. So both read the same rows, and take the same interests from them.
 */
#include "recorded.h"

#include <string.h>

#include "apr_strings.h"

#include "catalogue.h"
#include "changes.h"
#include "connection.h"
#include "glimpse.h"
#include "image.h"
#include "now.h"

/* A write of more rows is announced a second time: that costs less than it. */
#define RECORDED_MAX 100

/* Was it announced by somebody else already? What else a writer may see was committed by others. The last is the writer's own. */
static int take(sql_call_t *c, const database_recorded_t *recorded, const json_t *change, int is_last,
                database_mark_t *mark)
{
    const database_t *feed = (const database_t *)c->db;

    *mark = database_board_mark(feed, recorded->era, json_string_value(json_object_get(change, "epoch")),
                                json_integer_value(json_object_get(change, "id")));
    return is_last || !database_board_has(feed, *mark);
}

static apr_int64_t last_of(const json_t *changes)
{
    const char *told = json_string_value(json_object_get(json_array_get(changes, 0), "now"));

    return told != NULL ? apr_strtoi64(told, NULL, 10) : -1;
}

static void take_all(sql_call_t *c, database_recorded_t *recorded, database_touched_t *touched, const json_t *changes)
{
    int inserted = 0;

    recorded->inserted = apr_pcalloc(c->pool, (json_array_size(changes) + 1) * sizeof(*recorded->inserted));
    for (size_t i = 0; i < json_array_size(changes); i++) {
        const json_t *change = json_array_get(changes, i);

        if (take(c, recorded, change, i + 1 == json_array_size(changes), &recorded->marks[recorded->count])) {
            const char *op = json_string_value(json_object_get(change, "op"));
            const char *key = json_string_value(json_object_get(change, "key"));

            database_touched_change(touched, c->table->name, change);
            recorded->count++;
            if (op != NULL && op[0] == 'I' && key != NULL) {
                recorded->inserted[inserted++] = apr_pstrdup(c->pool, key);
            }
        }
    }
}

int database_recorded_inserted(const database_recorded_t *recorded, const char *key)
{
    for (int i = 0; recorded->inserted != NULL && key != NULL && recorded->inserted[i] != NULL; i++) {
        if (strcmp(recorded->inserted[i], key) == 0) {
            return 1;
        }
    }
    return 0;
}

/* What is told of the first change is told of all. */
static const char *told_of(sql_call_t *c, const json_t *changes, const char *name)
{
    const char *told = json_string_value(json_object_get(json_array_get(changes, 0), name));

    return told != NULL ? apr_pstrdup(c->pool, told) : NULL;
}

/* Before images are decoded. */
static void pack_all(sql_call_t *c, database_recorded_t *recorded, const json_t *changes)
{
    size_t count = json_array_size(changes);
    const char *saw = json_string_value(json_object_get(json_array_get(changes, 0), "now"));

    recorded->life = database_recent_life_here(c, recorded->era);
    if (recorded->life == 0) {
        return;
    }
    recorded->packed = apr_palloc(c->pool, count * sizeof(*recorded->packed));
    saw = saw != NULL ? apr_pstrdup(c->pool, saw) : NULL;
    for (size_t i = 0; i < count; i++) {
        database_copy_pack(&recorded->packed[i], c->table, json_array_get(changes, i));
        recorded->packed[i].saw = saw;
    }
    recorded->packed_count = (int)count;
    recorded->is_alone = count == 1 && recorded->packed[0].is_alone;
}

void database_recorded_begin(sql_call_t *c, database_recorded_t *recorded)
{
    *recorded = (database_recorded_t){.era = database_board_era((const database_t *)c->db), .whole = -1, .now = -1};
}

/* Is it all that was recorded? Then that row was, and what it looks like need not be read. */
static int is_all(const json_t *changes, const database_inserted_t *row)
{
    const json_t *change = json_array_get(changes, 0);
    const char *op = json_string_value(json_object_get(change, "op"));
    const char *key = json_string_value(json_object_get(change, "key"));

    return json_array_size(changes) == 1 && json_integer_value(json_object_get(change, "alone")) == 1 && op != NULL &&
           strcmp(op, "I") == 0 && key != NULL && strcmp(key, row->key) == 0;
}

/* Images cost a database more than all the rest. Where the last row was not all there was, the next one may not be: then one
 * statement costs less than two. */
static apr_status_t read_own(sql_call_t *c, apr_int64_t floor, const database_inserted_t *row, json_t **changes)
{
    database_kept_t *kept = database_dialect_kept(c);
    int is_known = row != NULL && row->key != NULL && row->image != NULL;
    int images = !is_known || kept->has_more;
    apr_status_t rv = database_changes_own(c, floor, RECORDED_MAX, images, changes);

    if (rv != APR_SUCCESS || !is_known) {
        return rv;
    }
    kept->has_more = !is_all(*changes, row);
    if (images) {
        return APR_SUCCESS;
    }
    if (!kept->has_more) {
        json_object_set_new(json_array_get(*changes, 0), "old", json_null());
        json_object_set_new(json_array_get(*changes, 0), "new", json_string(row->image));
        return APR_SUCCESS;
    }
    json_decref(*changes);
    return database_changes_own(c, floor, RECORDED_MAX, 1, changes);
}

apr_status_t database_recorded_read(sql_call_t *c, database_recorded_t *recorded, database_touched_t *touched,
                                    const database_inserted_t *row)
{
    const database_t *feed = (const database_t *)c->db;
    apr_int64_t floor = feed->look != 0 ? database_board_floor(feed) : -1;
    json_t *changes;
    apr_status_t rv;

    if (floor < 0) {
        return APR_SUCCESS;
    }
    recorded->read_at = vault_now();
    rv = read_own(c, floor, row, &changes);
    if (rv == APR_SUCCESS && json_array_size(changes) <= RECORDED_MAX) {
        /* Ids have no gaps: either as many as there are after `floor` were read, or some are of other tables. */
        recorded->now = last_of(changes);
        if (feed->journal != NULL && recorded->now - floor == (apr_int64_t)json_array_size(changes)) {
            recorded->whole = recorded->now;
        }
        pack_all(c, recorded, changes);
        rv = database_image_decode(c, changes);
        recorded->marks = apr_palloc(c->pool, RECORDED_MAX * sizeof(*recorded->marks));
    }
    else if (rv == APR_SUCCESS) {
        pack_all(c, recorded, changes); /* that they are many is to be known, where they are joined */
    }
    if (rv == APR_SUCCESS && recorded->marks != NULL) {
        take_all(c, recorded, touched, changes);
        recorded->epoch = told_of(c, changes, "epoch");
        recorded->saw = told_of(c, changes, "now");
    }
    json_decref(changes);
    return rv;
}

void database_recorded_publish(sql_call_t *c, database_recorded_t *recorded)
{
    if (!database_recent_leave((const database_t *)c->db, recorded->life, recorded->packed, recorded->packed_count,
                               recorded->now)) {
        recorded->count = 0;
        recorded->whole = -1;
    }
}

void database_recorded_leave(sql_call_t *c, const database_recorded_t *recorded)
{
    const database_dialect_t *dialect = database_dialect_of(c->db);

    database_board_leave((const database_t *)c->db, recorded->marks, recorded->count);
    if (dialect->is_due != NULL && recorded->saw != NULL) {
        const database_look_t look = {.dialect = dialect,
                                      .epoch = recorded->epoch,
                                      .told = recorded->saw,
                                      .began = recorded->read_at,
                                      .era = recorded->era};

        database_glimpse(c, &look);
    }
}
