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
 * This spares looks and no more. Times of files may be as coarse as some milliseconds, and what was written shows in the file a little
 * before it can be read. So a footprint may hide what somebody else writes at the same moment: the watcher looks all the same after two
 * seconds (watcher.c).
 */
#ifndef DATABASE_FOOTPRINT_H
#define DATABASE_FOOTPRINT_H

#include "database.h"

/** As it is now. Any thread.
 * @param settled  1: nobody has written for some time: what the footprint is of can be read. May be NULL
 * @return 0: nobody knows */
apr_uint64_t database_footprint(const database_t *feed, int *settled);

#endif
