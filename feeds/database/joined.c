/* SPDX-License-Identifier: Apache-2.0 */
/* Looks without the database, where places are sets: see joined.h. */
#include "joined.h"

#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#include "board.h"
#include "catalogue.h"
#include "copies.h"
#include "joins.h"

/* Transactions that one look joins: with more of them the database costs less. */
#define JOINED_MAX 128
/* Copies that it looks at: while a long transaction is open no place has all that there was before. */
#define LOOKED_MAX (4 * JOINED_MAX)

apr_uint64_t database_joined_life(database_era_t era)
{
    apr_uint64_t life = database_copy_mix(1, era);

    return life != 0 ? life : 1;
}

static const database_joins_t *joins_of(const database_t *feed)
{
    return database_dialect_of(&feed->sql)->joins;
}

void database_joined_begin(const database_t *feed, apr_uint64_t life, const char *now, int strange)
{
    database_recent_t *recent = database_board_recent(feed);
    const database_joins_t *joins = joins_of(feed);

    if (recent->life != life) {
        recent->life = 0;
        recent->first = (apr_uint64_t)recent->last;
        joins->begin(recent, life, now);
        recent->life = life;
    }
    else {
        joins->found(recent, life, now, strange);
    }
}

int database_joined_leave(const database_t *feed, apr_uint64_t life, database_packed_t *packed, int count)
{
    database_recent_t *recent = database_board_recent(feed);

    if (recent->life != life) {
        return 0;
    }
    joins_of(feed)->leave(recent, life, packed, count);
    return 1;
}

void database_joined_number(const database_t *feed, database_numbering_t *numbering)
{
    const database_recent_t *recent = database_board_recent(feed);

    numbering->life = recent->life;
    numbering->copies = (apr_uint64_t)recent->last;
}

/* Nobody knows of one in between what copies it comes after, but those before the first of them. */
void database_joined_numbered(const database_t *feed, const database_numbering_t *numbering, apr_int64_t last,
                              const char *ids, int all)
{
    database_recent_t *recent = database_board_recent(feed);
    const database_numbered_t numbered = {.numbers = recent->numbers, .life = numbering->life};
    apr_uint64_t copies = 0;
    char *at = (char *)(uintptr_t)ids;

    if (numbering->life == 0 || recent->life != numbering->life) {
        return;
    }
    (void)database_numbered_find(&numbered, last, &copies);
    while (*at != '\0') {
        apr_int64_t id = apr_strtoi64(at, &at, 10);
        int is_last = *at == '\0';

        at += !is_last;
        database_numbered_leave(&numbered, ++last, id, is_last && all ? numbering->copies : copies);
    }
}

int database_joined_each_new(const database_t *feed, apr_uint64_t life, const char *place, const char *now,
                             int (*visit)(void *data, apr_int64_t id), void *data)
{
    const database_numbered_t numbered = {.numbers = database_board_recent(feed)->numbers, .life = life};
    database_listed_t had, has;

    return database_listed_read(&had, place) && database_listed_read(&has, now) && had.last <= has.last &&
           database_listed_each_new(&had, &has, &numbered, visit, data);
}

void database_joins_leave(database_recent_t *recent, apr_uint64_t life, apr_uint64_t number, database_packed_t *packed,
                          apr_int64_t top)
{
    database_copy_leave(recent->changes[number % DATABASE_RECENT], life, (apr_int64_t)number, packed, top);
}

/* ------------------------------------------------------------ look */

/* What a look wants. */
typedef struct wish_t {
    const sql_table_t *table;
    const char *epoch;
    apr_uint64_t shape;
    database_sieve_t sieve;
} wish_t;

/* What it may join. */
typedef struct joining_t {
    apr_int64_t number;
    const char *saw;
    database_found_t *found; /* NULL: nothing of it is wanted */
} joining_t;

/* What a look takes, in the order in which it was left; and what it has seen with that. */
typedef struct taken_t {
    joining_t at[JOINED_MAX]; /* those from `begin` on */
    int begin;
    int count; /* of those that are more than an end */
    const database_joins_t *joins;
    database_seen_t seen;
} taken_t;

/* Of another watching, or with other columns? */
static int is_odd(const database_found_t *found, const wish_t *wish)
{
    return strcmp(found->texts[DATABASE_COPY_EPOCH], wish->epoch) != 0 || found->texts[DATABASE_COPY_OP][0] == 'W' ||
           found->head.shape != wish->shape;
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
    joining->number = (*found)->head.xid;
    taken->count += joining->number != 0;
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
static int collect(taken_t *taken, const wish_t *wish, apr_pool_t *pool)
{
    const database_seen_t *seen = &taken->seen;
    const database_recent_t *recent = seen->recent;
    apr_uint64_t last = recent->last;
    database_found_t *found = apr_palloc(pool, sizeof(*found));

    taken->begin = JOINED_MAX;
    taken->count = 0;
    for (apr_uint64_t number = last; number > seen->first; number--) {
        const database_copy_t *copy = &recent->changes[number % DATABASE_RECENT];
        database_head_t head;
        int has;

        if (last - number >= LOOKED_MAX || !database_copy_peek(*copy, seen->life, (apr_int64_t)number, &head)) {
            return 0;
        }
        if (taken->joins->is_behind != NULL && taken->joins->is_behind(seen, &head)) {
            break;
        }
        has = taken->joins->has(seen, &head);
        if (has < 0 || (has == 0 && (!database_copy_find(*copy, seen->life, (apr_int64_t)number, found) ||
                                     !take_one(taken, wish, &found, pool)))) {
            return 0;
        }
    }
    return taken->count > 0;
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

            if (!joined[i] && taken->joins->join(&taken->seen, joining->saw, joining->number)) {
                joined[i] = more = 1;
                left--;
            }
        }
    }
    return left == 0;
}

static int compare_ids(const void *a, const void *b)
{
    apr_int64_t one = (*(const database_found_t *const *)a)->head.id,
                other = (*(const database_found_t *const *)b)->head.id;

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

static apr_uint64_t shape_of(sql_call_t *c)
{
    database_kept_t *kept = database_dialect_kept(c);

    if (kept->shape == 0) {
        kept->shape = database_copy_shape(c->table);
    }
    return kept->shape;
}

/* @return 0: not all is here, or nothing is, which does not tell why the page was woken */
static int take(taken_t *taken, sql_call_t *c, const database_wanted_t *wanted, const char *place, const char *epoch)
{
    const database_t *feed = (const database_t *)c->db;
    database_seen_t *seen = &taken->seen;
    wish_t wish = {.table = c->table, .epoch = epoch, .shape = shape_of(c)};

    seen->recent = database_board_recent(feed);
    seen->life = database_joined_life(database_board_era(feed));
    seen->first = seen->recent->first;
    if (feed->look == 0 || wish.shape == 0 || seen->recent->life != seen->life || !taken->joins->read(seen, place)) {
        return 0;
    }
    database_sieve_make(&wish.sieve, c, sql_table_column_named(c->table, wanted->column), wanted->value);
    return collect(taken, &wish, c->pool) && join_all(taken);
}

int database_joined_look(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted, const char *place,
                         const char *epoch)
{
    taken_t taken;
    json_t *changes = NULL;

    taken.joins = look->dialect->joins;
    look->next = NULL;
    if (wanted->alone && sql_table_column_named(c->table, wanted->column) != NULL &&
        take(&taken, c, wanted, place, epoch)) {
        changes = changes_of(&taken);
        look->next = taken.joins->text(&taken.seen, c->pool);
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
