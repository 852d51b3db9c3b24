/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file pruning.h
 * Once a minute the tailer removes what is too old: changes, results of queries, and positions of absent users (`keep`,
 * `changes`, `keep-places`).
 */
#ifndef LOG_PRUNING_H
#define LOG_PRUNING_H

#include "log/dialect.h"

/** Zeroed at first. Only the thread of the tailer uses it. */
typedef struct log_pruning_t {
    apr_time_t pruned_at; /* thread */
} log_pruning_t;

/** Prune, if it is time. @param position  of the tailer: changes that are not in it are kept; "": all changes are kept
 * @return as sql_conn_query() */
apr_status_t log_prune(log_pruning_t *pruning, sql_call_t *c, const char *position);

#endif
