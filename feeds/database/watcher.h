/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file watcher.h
 * Notices what other programs write: one thread in one child looks at the change table, and notifies the interests that new
 * changes touch.
 *
 * Each child has the thread; the one that holds a lock, which the kernel gives back when its process dies, looks. The
 * place up to which pages were told is kept beside the lock, in memory of the parent's that outlives children and graceful
 * restarts: who takes over goes on there, and nothing is passed over.
 */
#ifndef DATABASE_WATCHER_H
#define DATABASE_WATCHER_H

#include "database.h"

/** In the parent: make the lock, or find it again after a restart. @return NULL, or a sentence */
const char *database_watcher_open(database_t *feed, const apr_table_t *given, apr_pool_t *pconf);

/** Start and stop the thread of a child. @return NULL, or a sentence */
const char *database_watcher_start(database_t *feed, apr_pool_t *pchild);
void database_watcher_stop(database_t *feed);

#endif
