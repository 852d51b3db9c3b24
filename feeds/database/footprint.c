/* SPDX-License-Identifier: Apache-2.0 */
/* What a commit leaves in the file system: see footprint.h. */
#include "footprint.h"

#include <time.h>

#include "dialect.h"

/* How long a commit may take from its last write to the file until others can read it, with a slow disk in between; and more than files'
 * times are coarse. */
#define SETTLED_AFTER_NS INT64_C(2000000000)
/* After a longer commit the footprint may be of somebody else's as well: SQLite's goes on with a checkpoint, now and then, when it has
 * let go of the lock. */
#define COMMIT_AT_ONCE apr_time_from_msec(5)
/* How long what a footprint hides may stay unseen. */
#define REST_AT_MOST apr_time_from_sec(2)
/* How long a commit of this server takes from its first write to the file until it is announced, mostly. */
#define ANNOUNCED_AFTER 10

static apr_int64_t nanoseconds(const struct timespec *time)
{
    return (apr_int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

/* Some bits of everything: two that are not the same have other numbers, as good as always. */
static apr_uint64_t mix(apr_uint64_t print, apr_uint64_t value)
{
    print = (print ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return print ^ print >> 29;
}

apr_uint64_t database_footprint(const database_t *feed, int *settled)
{
    struct timespec now;
    struct stat found;

    if (feed->journal == NULL || stat(feed->journal, &found) != 0) {
        return 0;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    return database_footprint_of(&found, nanoseconds(&now), settled);
}

apr_uint64_t database_footprint_of(const struct stat *found, apr_int64_t now, int *settled)
{
    apr_int64_t written = nanoseconds(&found->st_mtim);
    apr_uint64_t print = mix(mix(1, (apr_uint64_t)found->st_dev), (apr_uint64_t)found->st_ino);

    if (settled != NULL) {
        *settled = now - written > SETTLED_AFTER_NS;
    }
    print = mix(mix(print, (apr_uint64_t)found->st_size), (apr_uint64_t)written);
    return print != 0 ? print : 1;
}

int database_footprint_is_own(apr_time_t took)
{
    return took >= 0 && took < COMMIT_AT_ONCE;
}

/* How long what was last seen holds, in milliseconds. */
static int holds_for(const database_rest_t *rest)
{
    const int at_most = (int)apr_time_as_msec(REST_AT_MOST);

    return rest->is_told && rest->look > at_most ? rest->look : at_most;
}

int database_footprint_rest(const database_rest_t *rest)
{
    apr_time_t since = rest->now - rest->looked_at;
    apr_time_t most = apr_time_from_msec(holds_for(rest));
    int left;

    if (rest->footprint == 0 || rest->footprint != rest->known || rest->looked_at == 0 || since < 0 || since >= most) {
        return 0;
    }
    left = (int)apr_time_as_msec(most - since) + 1;
    return rest->is_told || left < rest->look ? left : rest->look;
}

int database_footprint_pause(apr_time_t since, int look)
{
    apr_time_t left = look - apr_time_as_msec(since);

    if (since < 0 || left > look) {
        left = look;
    }
    return left > ANNOUNCED_AFTER ? (int)left : ANNOUNCED_AFTER;
}
