/* SPDX-License-Identifier: Apache-2.0 */
/* Looks without the database, where places are snapshots: see joined.h. */
#include "joined.h"

#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#include "board.h"
#include "catalogue.h"
#include "copies.h"
#include "snapshot.h"

/* Transactions that one look joins: with more of them the database costs less. */
#define JOINED_MAX 128
/* Copies that it looks at: while a long transaction is open no place has all that there was before. */
#define LOOKED_MAX (4 * JOINED_MAX)
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

/* What a look wants. */
typedef struct wish_t {
    const sql_table_t *table;
    const char *epoch;
    apr_uint64_t shape;
    database_sieve_t sieve;
} wish_t;

/* A transaction that it may join. */
typedef struct joining_t {
    apr_int64_t xid;
    const char *saw;
    database_found_t *found; /* NULL: nothing of it is wanted */
} joining_t;

/* What a look takes, in the order in which it was left; and what it has seen with that. */
typedef struct taken_t {
    joining_t at[JOINED_MAX]; /* those from `begin` on */
    int begin;
    database_snapshot_t seen;
} taken_t;

/* Of another watching, or with other columns? */
static int is_odd(const database_found_t *found, const wish_t *wish)
{
    return strcmp(found->texts[DATABASE_COPY_EPOCH], wish->epoch) != 0 || found->texts[DATABASE_COPY_OP][0] == 'W' ||
           found->shape != wish->shape;
}

/* @return 0: it cannot be had */
static int take_one(taken_t *taken, const wish_t *wish, database_found_t **found, apr_pool_t *pool)
{
    int is_here = strcmp((*found)->texts[DATABASE_COPY_TABLE], wish->table->name) == 0;
    joining_t *joining;

    if (taken->begin == 0 || (is_here && is_odd(*found, wish))) {
        return 0;
    }
    joining = &taken->at[--taken->begin];
    joining->xid = (*found)->xid;
    if (is_here && database_sieve_passes(&wish->sieve, *found)) {
        joining->saw = (*found)->texts[DATABASE_COPY_SAW];
        joining->found = *found;
        *found = apr_palloc(pool, sizeof(**found));
    }
    else {
        joining->saw = apr_pstrdup(pool, (*found)->texts[DATABASE_COPY_SAW]);
        joining->found = NULL;
    }
    return 1;
}

/* From the last one back, until no earlier one can be new. @return 0: not all is here */
static int collect(taken_t *taken, const wish_t *wish, const database_recent_t *recent, apr_uint64_t life,
                   apr_pool_t *pool)
{
    const database_snapshot_t *seen = &taken->seen;
    apr_int64_t all = seen->count > 0 ? seen->missing[0] : seen->end;
    apr_uint64_t first = recent->first, last = recent->last;
    database_found_t *found = apr_palloc(pool, sizeof(*found));

    taken->begin = JOINED_MAX;
    for (apr_uint64_t number = last; number > first; number--) {
        if (last - number >= LOOKED_MAX ||
            !database_copy_find(recent->changes[number % DATABASE_RECENT], life, (apr_int64_t)number, found)) {
            return 0;
        }
        if (found->top < all) {
            break;
        }
        if (!database_snapshot_has(seen, found->xid) && !take_one(taken, wish, &found, pool)) {
            return 0;
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
            const joining_t *joining = &taken->at[i];
            database_snapshot_t saw;

            if (!joined[i] && database_snapshot_read(&saw, joining->saw) &&
                database_snapshot_join(&taken->seen, &saw, joining->xid)) {
                joined[i] = more = 1;
                left--;
            }
        }
    }
    return left == 0;
}

static int compare_ids(const void *a, const void *b)
{
    apr_int64_t one = (*(const database_found_t *const *)a)->id, other = (*(const database_found_t *const *)b)->id;

    return one < other ? -1 : one > other;
}

/* All that is wanted of what was taken, in the order of the database. */
static json_t *changes_of(const taken_t *taken)
{
    const database_found_t *wanted[JOINED_MAX];
    json_t *changes = json_array();
    int count = 0, good = 1;

    for (int i = taken->begin; i < JOINED_MAX; i++) {
        if (taken->at[i].found != NULL) {
            wanted[count++] = taken->at[i].found;
        }
    }
    qsort(wanted, (size_t)count, sizeof(wanted[0]), compare_ids);
    for (int i = 0; i < count && good; i++) {
        good = json_array_append_new(changes, database_copy_change(wanted[i])) == 0;
    }
    if (!good) {
        json_decref(changes);
        return NULL;
    }
    return changes;
}

/* @return 0: not all is here, or nothing is, which does not tell why the page was woken */
static int take(taken_t *taken, sql_call_t *c, const database_wanted_t *wanted, const char *place, const char *epoch)
{
    const database_t *feed = (const database_t *)c->db;
    const database_recent_t *recent = database_board_recent(feed);
    apr_uint64_t life = database_joined_life(database_board_era(feed));
    wish_t wish = {.table = c->table, .epoch = epoch};

    /* The number before the first colon: all before it was seen. */
    if (feed->look == 0 || recent->life != life || apr_strtoi64(place, NULL, 10) < recent->end ||
        !database_snapshot_read(&taken->seen, place)) {
        return 0;
    }
    wish.shape = database_copy_shape(c->table);
    database_sieve_make(&wish.sieve, c, sql_table_column_named(c->table, wanted->column), wanted->value);
    return collect(taken, &wish, recent, life, c->pool) && join_all(taken);
}

int database_joined_look(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted, const char *place,
                         const char *epoch)
{
    taken_t taken;
    json_t *changes = NULL;

    look->next = NULL;
    if (wanted->alone && sql_table_column_named(c->table, wanted->column) != NULL && c->table->shape != NULL &&
        take(&taken, c, wanted, place, epoch)) {
        changes = changes_of(&taken);
        look->next = database_snapshot_text(&taken.seen, PLACE_MAX, c->pool);
    }
    if (look->next == NULL || changes == NULL || json_array_size(changes) > (size_t)wanted->most) {
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
