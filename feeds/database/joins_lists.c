/* SPDX-License-Identifier: Apache-2.0 */
/* Places that are lists of changes (MariaDB): see joined.h, listed.h. */
#include "joins.h"

#include <string.h>

#include "apr_strings.h"

static database_numbered_t numbered_of(const database_seen_t *seen)
{
    /* It only reads them. */
    return (database_numbered_t){.numbers = ((database_recent_t *)(uintptr_t)seen->recent)->numbers,
                                 .life = seen->life};
}

/* ------------------------------------------------------------ what was left */

static _Atomic apr_uint64_t *known_at(database_recent_t *recent, apr_int64_t id)
{
    return &recent->known[(apr_uint64_t)id % DATABASE_KNOWN];
}

static apr_uint64_t known_as(apr_uint64_t life, apr_int64_t id)
{
    return database_copy_mix(database_copy_mix(1, life), (apr_uint64_t)id);
}

static void know_all(database_recent_t *recent, apr_uint64_t life, const database_listed_t *now)
{
    for (int i = 0; i < now->count; i++) {
        *known_at(recent, now->ids[i]) = known_as(life, now->ids[i]);
    }
}

/* Who has not all that is in `now` is to ask the database. What is no place nobody has. */
static void leave_end(database_recent_t *recent, apr_uint64_t life, const char *now)
{
    database_packed_t packed;

    database_copy_pack_end(&packed, now);
    database_joins_leave(recent, life, ++recent->last, &packed, 0);
}

static void begin(database_recent_t *recent, apr_uint64_t life, const char *now)
{
    database_listed_t all;

    leave_end(recent, life, now);
    if (database_listed_read(&all, now)) {
        know_all(recent, life, &all);
    }
}

static void find(database_recent_t *recent, apr_uint64_t life, const char *now, int strange)
{
    database_listed_t all;

    if (strange) {
        leave_end(recent, life, now);
    }
    if (database_listed_read(&all, now)) {
        know_all(recent, life, &all);
    }
}

/* The only change that a transaction saw at its end, and that nobody has announced or found: no other can be its own. 0: there is
 * none; it was found meanwhile, or its id is that of one that was there before the table of changes was emptied. -1: there are more, some of
 * which others have committed just now, or all of which are its own. */
static apr_int64_t own_of(database_recent_t *recent, apr_uint64_t life, const database_listed_t *saw)
{
    apr_int64_t own = 0;

    for (int i = 0; i < saw->count; i++) {
        if (*known_at(recent, saw->ids[i]) != known_as(life, saw->ids[i])) {
            own = own == 0 ? saw->ids[i] : -1;
        }
    }
    return own;
}

static void leave(database_recent_t *recent, apr_uint64_t life, database_packed_t *packed, int count)
{
    const char *now = count > 0 && packed->saw != NULL ? packed->saw : "";
    database_packed_t *alone = NULL;
    database_listed_t saw;
    apr_int64_t own;

    if (count == 0) {
        return;
    }
    if (!database_listed_read(&saw, now)) {
        leave_end(recent, life, "");
        return;
    }
    own = own_of(recent, life, &saw);
    for (int i = 0; i < count; i++) {
        alone = own > 0 && packed[i].id == own && packed[i].count > 0 && packed[i].is_alone ? &packed[i] : alone;
    }
    if (alone != NULL) {
        database_joins_leave(recent, life, ++recent->last, alone, saw.last);
    }
    else {
        leave_end(recent, life, now);
    }
    know_all(recent, life, &saw);
}

/* ------------------------------------------------------------ looks */

static int read_place(database_seen_t *seen, const char *place)
{
    const database_numbered_t numbered = numbered_of(seen);
    database_listed_t *s = &seen->set.listed;
    apr_uint64_t copies = 0;

    if (!database_listed_read(s, place)) {
        return 0;
    }
    database_listed_shorten(s, &numbered);
    (void)database_numbered_find(&numbered, s->last, &copies);
    seen->first = copies > seen->first ? copies : seen->first;
    return 1;
}

static int has(const database_seen_t *seen, const database_head_t *head)
{
    const database_numbered_t numbered = numbered_of(seen);

    if (head->xid == 0) {
        return 0; /* an end, which join compares */
    }
    return database_listed_has(&seen->set.listed, head->xid, head->top, &numbered);
}

static int join(database_seen_t *seen, const char *saw, apr_int64_t number)
{
    const database_numbered_t numbered = numbered_of(seen);
    database_listed_t *s = &seen->set.listed;
    database_listed_t before;

    if (!database_listed_read(&before, saw)) {
        return 0;
    }
    /* As `s` was: what has a number in one of them and none in the other takes much longer to compare. */
    database_listed_shorten(&before, &numbered);
    return database_listed_follows(s, &before, number, &numbered) && (number == 0 || database_listed_add(s, number));
}

static const char *text_of(const database_seen_t *seen, apr_pool_t *pool)
{
    return database_listed_text(&seen->set.listed, DATABASE_JOINS_PLACE_MAX, pool);
}

const database_joins_t database_joins_lists = {
    .read = read_place,
    .has = has,
    .join = join,
    .text = text_of,
    .begin = begin,
    .found = find,
    .leave = leave,
};
