/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file pruning.h
 * What is too old is removed, once a minute, by the tailer: changes, results of queries and places of users who do not come
 * (`keep`, `changes`, `keep_places`).
 */
#ifndef DATABASE_PRUNING_H
#define DATABASE_PRUNING_H

#include "dialect.h"

/** All zero at first. Of one thread, the tailer's. */
typedef struct database_pruning_t {
    apr_time_t pruned_at; /* thread */
} database_pruning_t;

/** If it is time. @param place  of who watches: no change goes that this has not; "": none, and nothing goes
 * @return as sql_conn_query */
apr_status_t database_prune(database_pruning_t *pruning, sql_call_t *c, const char *place);

#endif
