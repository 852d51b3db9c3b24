/* SPDX-License-Identifier: Apache-2.0 */
/* Places that are snapshots of transactions (PostgreSQL): see joins.h. */
#include "joins.h"

#include <string.h>

#include "apr_strings.h"

static void raise_to(_Atomic apr_int64_t *number, apr_int64_t least)
{
    apr_int64_t now = *number;

    while (now < least && !atomic_compare_exchange_weak(number, &now, least)) {
    }
}

static apr_int64_t end_of(const char *now)
{
    const char *colon = strchr(now, ':');

    return colon != NULL ? apr_strtoi64(colon + 1, NULL, 10) : APR_INT64_MAX;
}

static void begin(database_recent_t *recent, apr_uint64_t life, const char *now)
{
    recent->end = end_of(now);
    recent->top = 0;
}

static void find(database_recent_t *recent, apr_uint64_t life, const char *now, int strange)
{
    if (strange) {
        raise_to(&recent->end, end_of(now));
    }
}

static void leave(database_recent_t *recent, apr_uint64_t life, database_packed_t *packed, int count)
{
    apr_uint64_t number;

    if (count != 1 || packed->count == 0 || !packed->is_alone) {
        raise_to(&recent->end, count > 0 ? packed->xid + 1 : 0);
        return;
    }
    raise_to(&recent->top, packed->xid);
    number = ++recent->last; /* who has a smaller one has raised it before */
    database_joins_leave(recent, life, number, packed, recent->top);
}

/* The number before the first colon: all before it was seen. */
static int read_place(database_seen_t *seen, const char *place)
{
    return apr_strtoi64(place, NULL, 10) >= seen->recent->end && database_snapshot_read(&seen->set.snapshot, place);
}

static int is_behind(const database_seen_t *seen, const database_head_t *head)
{
    const database_snapshot_t *s = &seen->set.snapshot;

    return head->top < (s->count > 0 ? s->missing[0] : s->end);
}

static int has(const database_seen_t *seen, const database_head_t *head)
{
    return database_snapshot_has(&seen->set.snapshot, head->xid);
}

static int join(database_seen_t *seen, const char *saw, apr_int64_t number)
{
    database_snapshot_t before;

    return database_snapshot_read(&before, saw) && database_snapshot_join(&seen->set.snapshot, &before, number);
}

static const char *text_of(const database_seen_t *seen, apr_pool_t *pool)
{
    return database_snapshot_text(&seen->set.snapshot, DATABASE_JOINS_PLACE_MAX, pool);
}

const database_joins_t database_joins_snapshots = {
    .read = read_place,
    .is_behind = is_behind,
    .has = has,
    .join = join,
    .text = text_of,
    .begin = begin,
    .found = find,
    .leave = leave,
};
