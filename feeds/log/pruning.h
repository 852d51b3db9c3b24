/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file pruning.h
 * What is too old is removed, once a minute, by the tailer: changes, results of queries and positions of users who
 * do not come (`keep`, `changes`, `keep-places`).
 */
#ifndef LOG_PRUNING_H
#define LOG_PRUNING_H

#include "log/dialect.h"

/** All zero at first. Of one thread, the tailer's. */
typedef struct log_pruning_t {
    apr_time_t pruned_at; /* thread */
} log_pruning_t;

/** If it is time. @param position  of the tailer: a change that it does not contain stays; "": there is none, and
 * all changes stay
 * @return as sql_conn_query */
apr_status_t log_prune(log_pruning_t *pruning, sql_call_t *c, const char *position);

#endif
