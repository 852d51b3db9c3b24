/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file tailer.h
 * The tailer: the one process of a server that reads each change of the watched tables once, for the pages of all
 * children.
 *
 * Each child has the thread; the lock of the shared memory decides whose thread reads. It reads when a writer of this
 * server takes a ticket (shared.h), when the database notifies of a commit (PostgreSQL), when the kernel reports a
 * write to the file (SQLite), and at intervals of `poll` milliseconds. tail.h describes one read.
 */
#ifndef LOG_TAILER_H
#define LOG_TAILER_H

#include "log/change_log.h"

/** Start the thread in a child. @return NULL, or a sentence that says what failed */
const char *log_tailer_start(change_log_t *feed, apr_pool_t *pchild);
void log_tailer_stop(change_log_t *feed);

#endif
