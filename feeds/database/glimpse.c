/* SPDX-License-Identifier: Apache-2.0 */
/* What a page's look tells the watcher: see glimpse.h. */
#include "glimpse.h"

#include "board.h"
#include "joined.h"

/* The watcher looks itself at least so often, in milliseconds. */
#define LOOK_ANYHOW 2000
/* What a glimpse costs is saved only if the last one is older than this part of the time between two looks. */
#define PART 4

typedef struct marked_t {
    const database_t *feed;
    database_era_t era;
    const char *epoch;
} marked_t;

/* Changes of other tables are not told: they have another mark. */
static int is_marked(void *data, apr_int64_t id)
{
    const marked_t *marked = data;

    return database_board_has(marked->feed, database_board_mark(marked->feed, marked->era, marked->epoch, id));
}

void database_glimpse(const sql_call_t *c, const database_look_t *look)
{
    const database_t *feed = (const database_t *)c->db;
    marked_t marked = {.feed = feed, .era = look->era, .epoch = look->epoch};
    char place[DATABASE_PLACE_BYTES];

    if (look->dialect->is_due(look->told, 0, feed->look)) {
        return; /* numbers are to be given, which is up to the watcher */
    }
    if (feed->look == 0 || look->began < database_board_seen(feed) + apr_time_from_msec(feed->look) / PART) {
        return;
    }
    /* Before the marks: the watcher takes those off that its place has, and then this is too old a place. */
    database_board_read_place(feed, place);
    if (database_joined_each_new(feed, database_joined_life(look->era), place, look->told, is_marked, &marked)) {
        database_board_see(feed, look->began);
    }
}

int database_glimpse_rest(apr_time_t seen, apr_time_t looked_at, apr_time_t now, int look)
{
    const apr_time_t latest = looked_at + apr_time_from_msec(LOOK_ANYHOW);
    apr_time_t until = seen + apr_time_from_msec(look);

    if (seen == 0 || looked_at == 0 || seen > now || looked_at > now) {
        return 0;
    }
    until = until < latest ? until : latest;
    return until > now ? (int)apr_time_as_msec(until - now + apr_time_from_msec(1) - 1) : 0;
}
