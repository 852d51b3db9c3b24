/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file pace.h
 * How often the watcher asks a database that tells of nothing (MariaDB): as often as others write, and less often while nobody does.
 *
 * Most sites' watched tables are written to by the site alone, and looks that find nothing are most of what it costs to be watched. So the
 * time until the next look is a tenth of that for which others have been quiet, as caches take a page that was
 * not changed for ten days for good for another one (RFC 9111, 4.2.2): from `look`, up to five times as long, and a
 * second at most. News of another program are late by no more than a tenth of the time since those before.
 *
 * What the feed itself writes and announces it looks for only that it may get numbers, and places stay short. So while it writes much, there are
 * looks in time for that.
 */
#ifndef DATABASE_PACE_H
#define DATABASE_PACE_H

#include "apr_time.h"

/** @param look   milliseconds between two looks while others write
 * @param quiet  since the watcher last found something that nobody had announced, or began to watch. Not negative
 * @param written  changes that this server has announced in the time `since` the look before
 * @return milliseconds until the next look; `look` at least */
int database_pace(int look, apr_time_t quiet, apr_uint32_t written, apr_time_t since);

#endif
