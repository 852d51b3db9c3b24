/* SPDX-License-Identifier: Apache-2.0 */
/* Changes in memory that children share: see recent.h. */
#include "recent.h"

#include <string.h>

#include "apr_strings.h"

#include "board.h"
#include "catalogue.h"
#include "connection.h"
#include "footprint.h"
#include "joined.h"

/* ------------------------------------------------------------ lives */

apr_uint64_t database_recent_life(const sql_call_t *c, database_era_t era, apr_int64_t generation)
{
    const sql_identity_t *file = &c->conn->identity;
    apr_uint64_t life;

    if (database_dialect_of(c->db)->joins != NULL) {
        return database_joined_life(era);
    }
    if (database_dialect_of(c->db)->images_of == NULL || generation < 0) {
        return 0;
    }
    life = database_copy_mix(database_copy_mix(1, era), file->device);
    life = database_copy_mix(database_copy_mix(life, file->inode), (apr_uint64_t)generation);
    return life != 0 ? life : 1;
}

apr_uint64_t database_recent_life_here(const sql_call_t *c, database_era_t era)
{
    const char *generation = c->conn->tables != NULL ? c->conn->generation : NULL;

    return database_recent_life(c, era, generation != NULL ? apr_strtoi64(generation, NULL, 10) : -1);
}

/* ------------------------------------------------------------ leave */

static void raise_end(database_recent_t *recent, apr_int64_t now)
{
    apr_int64_t end = recent->end;

    while (end < now && !atomic_compare_exchange_weak(&recent->end, &end, now)) {
    }
}

void database_recent_begin(const database_t *feed, apr_uint64_t life, apr_int64_t now)
{
    database_recent_t *recent = database_board_recent(feed);

    if (recent->life == life) {
        raise_end(recent, now);
        return;
    }
    recent->life = 0;
    recent->end = now;
    recent->life = life;
}

int database_recent_leave(const database_t *feed, apr_uint64_t life, database_packed_t *packed, int count,
                          apr_int64_t now)
{
    database_recent_t *recent = database_board_recent(feed);

    if (count > 0 && packed->xid != 0) {
        return database_joined_leave(feed, life, packed, count);
    }
    if (recent->life != life || life == 0) {
        return recent->life == life;
    }
    for (int i = 0; i < count; i++) {
        if (packed[i].count > 0 && packed[i].id > 0) {
            database_copy_leave(recent->changes[packed[i].id % DATABASE_RECENT], life, packed[i].id, &packed[i], 0);
        }
    }
    raise_end(recent, now);
    return 1;
}

/* ------------------------------------------------------------ look */

/* All that is wanted after `since`, up to `end`. NULL: not all is here. */
static json_t *collect(const database_recent_t *recent, apr_uint64_t life, const sql_call_t *c, const char *epoch,
                       const database_sieve_t *sieve, apr_int64_t since, apr_int64_t end)
{
    json_t *changes = json_array();
    int good = 1;

    for (apr_int64_t id = since + 1; id <= end && good; id++) {
        database_found_t found;

        good = database_copy_find(recent->changes[id % DATABASE_RECENT], life, id, &found);
        if (good && strcmp(found.texts[DATABASE_COPY_TABLE], c->table->name) == 0) {
            good = strcmp(found.texts[DATABASE_COPY_EPOCH], epoch) == 0 && found.texts[DATABASE_COPY_OP][0] != 'W';
            if (good && database_sieve_passes(sieve, &found)) {
                good = json_array_append_new(changes, database_copy_change(&found)) == 0;
            }
        }
    }
    if (!good) {
        json_decref(changes);
        return NULL;
    }
    return changes;
}

/* Is all that was committed here, or announced later? And is the table what it was when this connection read it? */
static apr_uint64_t life_to_believe(const sql_call_t *c, const database_recent_t *recent, const char *epoch)
{
    const database_t *feed = (const database_t *)c->db;
    const char *known = database_dialect_epoch(c->table);
    apr_uint64_t life = database_recent_life_here(c, database_board_era(feed));
    apr_uint64_t footprint;

    if (feed->look == 0 || life == 0 || recent->life != life || known == NULL || strcmp(known, epoch) != 0) {
        return 0;
    }
    footprint = database_footprint(feed, NULL);
    return footprint != 0 && footprint == database_board_known(feed) ? life : 0;
}

int database_recent_look(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted, const char *place,
                         const char *epoch)
{
    const database_recent_t *recent = database_board_recent((const database_t *)c->db);
    const sql_column_t *column = wanted->alone ? sql_table_column_named(c->table, wanted->column) : NULL;
    apr_uint64_t life = column != NULL ? life_to_believe(c, recent, epoch) : 0;
    apr_int64_t since = apr_strtoi64(place, NULL, 10), end = recent->end;
    database_sieve_t sieve;
    json_t *changes;

    if (look->dialect->joins != NULL) {
        return database_joined_look(c, look, wanted, place, epoch);
    }
    /* A place that is beyond the end may be of what is no more: the database tells. */
    if (life == 0 || since > end || end - since > DATABASE_RECENT) {
        return 0;
    }
    database_sieve_make(&sieve, c, column, wanted->value);
    changes = collect(recent, life, c, epoch, &sieve, since, end);
    if (changes == NULL || json_array_size(changes) > (size_t)wanted->most) {
        json_decref(changes);
        return 0;
    }
    look->epoch = epoch;
    look->span.since = place;
    look->next = look->span.now = end > since ? apr_psprintf(c->pool, "%" APR_INT64_T_FMT, end) : place;
    look->changes = changes;
    return 1;
}
