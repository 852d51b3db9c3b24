/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file tailer.h
 * The tailer: the one process of a server that reads each change of the watched tables, once, for the pages of all
 * children.
 *
 * Each child has the thread; the lock of the shared memory says which child's reads. It reads when a writer of this
 * server asks (shared.h), when the database tells of a commit (PostgreSQL), when the kernel tells of a write to the
 * file (SQLite), and by the clock, every `poll` milliseconds. What one read does is in tail.h.
 */
#ifndef LOG_TAILER_H
#define LOG_TAILER_H

#include "log/change_log.h"

/** In a child. @return NULL, or a sentence */
const char *log_tailer_start(change_log_t *feed, apr_pool_t *pchild);
void log_tailer_stop(change_log_t *feed);

#endif
