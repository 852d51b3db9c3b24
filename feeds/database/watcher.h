/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file watcher.h
 * Notices what other programs write: one thread in one child looks at the change table, and notifies the interests that new
 * changes touch.
 *
 * Each child has the thread; the one that holds the board's lock, which the kernel gives back when its process dies, looks.
 * The place up to which pages were told is kept on the board (board.h): who takes over goes on there, and nothing is passed
 * over. Changes that their writers have announced are.
 *
 * When it looks, is here: by the clock (pace.h), when the database or the file system tells of a commit (knock.h), and not while it is known that
 * there is nothing to be seen (footprint.h, glimpse.h). What a look does, is elsewhere: it asks whether there is any news (news.h),
 * and if so surveys all watched tables (survey.h); both move the place (progress.h).
 */
#ifndef DATABASE_WATCHER_H
#define DATABASE_WATCHER_H

#include "database.h"

/** Start and stop the thread of a child. @return NULL, or a sentence */
const char *database_watcher_start(database_t *feed, apr_pool_t *pchild);
void database_watcher_stop(database_t *feed);

#endif
