/* SPDX-License-Identifier: Apache-2.0 */
/* How often the watcher asks: see pace.h. */
#include "pace.h"

#define PART 10
/* The longest, in looks, and in milliseconds. */
#define LOOKS 5
#define LONGEST 1000

int database_pace(int look, apr_time_t quiet)
{
    apr_time_t pace = apr_time_as_msec(quiet) / PART;
    int most = look * LOOKS < LONGEST ? look * LOOKS : LONGEST;

    pace = pace < most ? pace : most;
    return pace > look ? (int)pace : look;
}
