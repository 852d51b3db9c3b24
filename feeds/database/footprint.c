/* SPDX-License-Identifier: Apache-2.0 */
/* What a commit leaves in the file system: see footprint.h. */
#include "footprint.h"

#include <sys/stat.h>
#include <time.h>

#include "dialect.h"

/* How long a commit may take from its last write to the file until others can read it, with a slow disk in between; and more than files'
 * times are coarse. */
#define SETTLED_AFTER_NS INT64_C(2000000000)

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
    apr_int64_t age;
    apr_uint64_t print;

    if (feed->journal == NULL || stat(feed->journal, &found) != 0) {
        return 0;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    age = nanoseconds(&now) - nanoseconds(&found.st_mtim);
    if (settled != NULL) {
        *settled = age > SETTLED_AFTER_NS;
    }
    print = mix(mix(1, (apr_uint64_t)found.st_dev), (apr_uint64_t)found.st_ino);
    print = mix(mix(print, (apr_uint64_t)found.st_size), (apr_uint64_t)nanoseconds(&found.st_mtim));
    return print != 0 ? print : 1;
}
