/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file glimpse.h
 * What a page's look tells the watcher, where the database has to be asked by the clock and places are lists (MariaDB): that nobody has written but who
 * has announced it.
 *
 * Whoever looks at a table learns the place of a whole snapshot. If that has no more than what the watcher's place has, and
 * changes that have a mark (board.h), then a look of the watcher in that moment would have found nothing to announce. So the
 * watcher's next look is due as long after that as it would be after its own. What others write is seen as soon as ever. A writer that has
 * read back what it recorded, and announced it, has seen as much.
 *
 * The watcher looks itself every two seconds all the same: its connection may be dead, its place has to go on before the marks
 * are overwritten by newer ones, and numbers are to be given.
 */
#ifndef DATABASE_GLIMPSE_H
#define DATABASE_GLIMPSE_H

#include "look.h"

/** In a look that has heard its place, of which nothing is left out; by a writer with what it saw, when its marks are left. Any thread of any child. */
void database_glimpse(const sql_call_t *c, const database_look_t *look);

/** For how many milliseconds the watcher need not look because of that. 0: let it look now.
 * @param looked_at  when it did last; 0: it has not
 * @param look       milliseconds between two of its looks */
int database_glimpse_rest(apr_time_t seen, apr_time_t looked_at, apr_time_t now, int look);

#endif
