/* SPDX-License-Identifier: Apache-2.0 */
/* Looks without the database, where places are snapshots: see joined.h. */
#include "joined.h"

#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#include "board.h"
#include "catalogue.h"
#include "copies.h"
#include "image.h"
#include "snapshot.h"

/* Copies that one look takes. */
#define JOINED_MAX 32
/* Of a place that a look makes, in bytes. */
#define PLACE_MAX 1000

apr_uint64_t database_joined_life(database_era_t era)
{
    apr_uint64_t life = database_copy_mix(1, era);

    return life != 0 ? life : 1;
}

static void raise_to(_Atomic apr_int64_t *number, apr_int64_t least)
{
    apr_int64_t now = *number;

    while (now < least && !atomic_compare_exchange_weak(number, &now, least)) {
    }
}

void database_joined_begin(const database_t *feed, apr_uint64_t life, const char *now, int strange)
{
    database_recent_t *recent = database_board_recent(feed);
    const char *colon = strchr(now, ':');
    apr_int64_t end = colon != NULL ? apr_strtoi64(colon + 1, NULL, 10) : APR_INT64_MAX;

    if (recent->life != life) {
        recent->life = 0;
        recent->end = end;
        recent->top = 0;
        recent->first = (apr_uint64_t)recent->last;
        recent->life = life;
    }
    else if (strange) {
        raise_to(&recent->end, end);
    }
}

int database_joined_leave(const database_t *feed, apr_uint64_t life, database_packed_t *packed, int count)
{
    database_recent_t *recent = database_board_recent(feed);
    apr_uint64_t number;

    if (recent->life != life) {
        return 0;
    }
    if (count != 1 || packed->count == 0 || !packed->is_alone) {
        raise_to(&recent->end, count > 0 ? packed->xid + 1 : 0);
        return 1;
    }
    raise_to(&recent->top, packed->xid);
    number = ++recent->last;
    database_copy_leave(recent->changes[number % DATABASE_RECENT], life, (apr_int64_t)number, packed, recent->top);
    return 1;
}

/* ------------------------------------------------------------ look */

/* What a look takes, in the order in which it was left; and what it has seen with that. */
typedef struct taken_t {
    database_found_t *at[JOINED_MAX]; /* those from `begin` on; NULL: it was joined */
    int begin;
    database_snapshot_t seen;
} taken_t;

/* From the last one back, until no earlier one can be new. @return 0: not all is here */
static int collect(taken_t *taken, const database_recent_t *recent, apr_uint64_t life, apr_pool_t *pool)
{
    const database_snapshot_t *seen = &taken->seen;
    apr_int64_t all = seen->count > 0 ? seen->missing[0] : seen->end;
    apr_uint64_t first = recent->first;
    database_found_t *found = NULL;

    taken->begin = JOINED_MAX;
    for (apr_uint64_t number = recent->last; number > first; number--) {
        if (found == NULL) {
            found = apr_palloc(pool, sizeof(*found));
        }
        if (!database_copy_find(recent->changes[number % DATABASE_RECENT], life, (apr_int64_t)number, found)) {
            return 0;
        }
        if (found->top < all) {
            break;
        }
        if (!database_snapshot_has(seen, found->xid)) {
            if (taken->begin == 0) {
                return 0;
            }
            taken->at[--taken->begin] = found;
            found = NULL;
        }
    }
    return taken->begin < JOINED_MAX;
}

/* They may have been left in another order than they were committed in. @return 0: one has seen what nobody here knows */
static int join_all(taken_t *taken)
{
    int joined[JOINED_MAX] = {0};
    int left = JOINED_MAX - taken->begin;
    int more = 1;

    while (left > 0 && more) {
        more = 0;
        for (int i = taken->begin; i < JOINED_MAX; i++) {
            const database_found_t *found = taken->at[i];
            database_snapshot_t saw;

            if (!joined[i] && database_snapshot_read(&saw, found->texts[DATABASE_COPY_SAW]) &&
                database_snapshot_join(&taken->seen, &saw, found->xid)) {
                joined[i] = more = 1;
                left--;
            }
        }
    }
    return left == 0;
}

static int compare_ids(const void *a, const void *b)
{
    apr_int64_t one = (*(database_found_t *const *)a)->id, other = (*(database_found_t *const *)b)->id;

    return one < other ? -1 : one > other;
}

/* What is wanted of all that was taken, in the order of the database. NULL: something is of another watching, or has other columns */
static json_t *changes_of(taken_t *taken, const sql_call_t *c, const char *epoch, const database_sieve_t *sieve)
{
    json_t *changes = json_array();
    int good = 1;

    qsort(taken->at + taken->begin, (size_t)(JOINED_MAX - taken->begin), sizeof(taken->at[0]), compare_ids);
    for (int i = taken->begin; i < JOINED_MAX && good; i++) {
        const database_found_t *found = taken->at[i];

        if (strcmp(found->texts[DATABASE_COPY_TABLE], c->table->name) == 0) {
            good = strcmp(found->texts[DATABASE_COPY_EPOCH], epoch) == 0 && found->texts[DATABASE_COPY_OP][0] != 'W' &&
                   found->shape == database_copy_shape(c->table);
            if (good && database_sieve_passes(sieve, found)) {
                good = json_array_append_new(changes, database_copy_change(found)) == 0;
            }
        }
    }
    if (!good) {
        json_decref(changes);
        return NULL;
    }
    return changes;
}

/* @return NULL: not all is here, or nothing is, which does not tell why the page was woken */
static json_t *take(taken_t *taken, sql_call_t *c, const database_wanted_t *wanted, const char *place,
                    const char *epoch)
{
    const database_t *feed = (const database_t *)c->db;
    const database_recent_t *recent = database_board_recent(feed);
    apr_uint64_t life = database_joined_life(database_board_era(feed));
    database_sieve_t sieve;

    /* The number before the first colon: all before it was seen. */
    if (feed->look == 0 || recent->life != life || apr_strtoi64(place, NULL, 10) < recent->end ||
        !database_snapshot_read(&taken->seen, place) || !collect(taken, recent, life, c->pool) || !join_all(taken)) {
        return NULL;
    }
    database_sieve_make(&sieve, c, sql_table_column_named(c->table, wanted->column), wanted->value);
    return changes_of(taken, c, epoch, &sieve);
}

int database_joined_look(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted, const char *place,
                         const char *epoch)
{
    taken_t taken;
    json_t *changes = NULL;

    if (wanted->alone && sql_table_column_named(c->table, wanted->column) != NULL && c->table->shape != NULL) {
        changes = take(&taken, c, wanted, place, epoch);
    }
    look->next = changes != NULL ? database_snapshot_text(&taken.seen, PLACE_MAX, c->pool) : NULL;
    if (look->next == NULL || json_array_size(changes) > (size_t)wanted->most ||
        database_image_decode(c, changes) != APR_SUCCESS) {
        look->next = NULL;
        json_decref(changes);
        return 0;
    }
    look->epoch = epoch;
    look->span.since = place;
    look->span.now = look->next;
    look->changes = changes;
    return 1;
}
