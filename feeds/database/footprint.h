/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file footprint.h
 * What a commit leaves in the file system: how the watcher of a database without a server knows, for the price of a stat, that
 * nobody has written since it, or a writer of this server, has seen and announced all there was.
 *
 * A writer that has committed takes the footprint before anything else, and keeps it on the board when it has announced all that
 * the change table had after the place of the watcher, its own and what others wrote. It had the database's only lock nearly until then, so
 * what is not in that is in a later footprint; a commit that took long may have let go of the lock before, and is not kept (write.c).
 *
 * While nothing else is written the watcher sleeps, and is told by the kernel when something is (knock.h). A writer that has ended its hush
 * compares the footprint with what the board knows, as the watcher would.
 *
 * This spares looks and no more. Times of files may be as coarse as some milliseconds, and what was written shows in the file a little
 * before it can be read. So a footprint may hide what somebody else writes at the same moment: the watcher looks all the same after two
 * seconds (watcher.c).
 */
#ifndef DATABASE_FOOTPRINT_H
#define DATABASE_FOOTPRINT_H

#include <sys/stat.h>

#include "apr_time.h"

#include "database.h"

/** As it is now. Any thread.
 * @param settled  1: nobody has written for some time: what the footprint is of can be read. May be NULL
 * @return 0: nobody knows */
apr_uint64_t database_footprint(const database_t *feed, int *settled);

/* ------------------------------------------------------------ what is decided, apart from clock and file */

/** The footprint of a file that was found so, at `now`, in nanoseconds since 1970. Never 0. @param settled  as above */
apr_uint64_t database_footprint_of(const struct stat *found, apr_int64_t now, int *settled);

/** Is the footprint that a writer has found after a commit of its own, which took so long, of no other commit as well? */
int database_footprint_is_own(apr_time_t took);

/** What a watcher knows who may not have to look. */
typedef struct database_rest_t {
    apr_uint64_t footprint; /**< as it is now; 0: nobody knows */
    apr_uint64_t known;     /**< of which all is announced; 0: none */
    apr_time_t looked_at; /**< when it last looked, and all went well, by a clock that never goes back; 0: it has not */
    apr_time_t now;       /**< by the same clock */
    int look;             /**< milliseconds between two looks */
    int is_told;          /**< it will be told when somebody writes (knock.h) */
} database_rest_t;

/** Nobody has written but who has announced it: for how many milliseconds nobody needs to look. Until two seconds after the last look
 * at the latest, and for `look` at most; by a watcher that is told of writes until two seconds after it, or `look` if that is longer.
 * @return 0: look now */
int database_footprint_rest(const database_rest_t *rest);

/** Somebody has begun to write: for how many milliseconds the watcher leaves it alone. A writer of this server has announced by then what it
 * wrote; and who writes all the time costs one look in `look` milliseconds.
 * @param since  when the watcher last came to see */
int database_footprint_pause(apr_time_t since, int look);

#endif
