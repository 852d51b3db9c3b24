/* SPDX-License-Identifier: Apache-2.0 */
/* How often the watcher asks: see pace.h. */
#include "pace.h"

#define PART 10
/* The longest, in looks, and in milliseconds. */
#define LOOKS 5
#define LONGEST 1000
/* Changes of this server's between two looks, as far as it goes on as before: half as many as make numbers due. */
#define WRITTEN 16

static apr_time_t least(apr_time_t a, apr_time_t b)
{
    return a < b ? a : b;
}

int database_pace(int look, apr_time_t quiet, apr_uint32_t written, apr_time_t since)
{
    apr_time_t pace = least(apr_time_as_msec(quiet) / PART, least((apr_time_t)look * LOOKS, LONGEST));

    if (written > 0) {
        pace = least(pace, apr_time_as_msec(since) * WRITTEN / written);
    }
    return pace > look ? (int)pace : look;
}
