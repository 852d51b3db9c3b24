/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file batch.h
 * What the tailer reads from the database with one statement, which is one snapshot: where the database is, which
 * tables are watched, and the first changes after a position, of all watched tables.
 *
 * Only the thread of the tailer.
 */
#ifndef LOG_BATCH_H
#define LOG_BATCH_H

#include <jansson.h>

#include "log/dialect.h"

typedef struct log_batch_t {
    json_t *rows;          /**< the changes, oldest first: tbl, op, key, id, number, old, new, altered; a reference */
    const char *told;      /**< where the database is, as it tells it */
    const char *now;       /**< the same as a position */
    const char *watchings; /**< another text whenever other tables are watched; "" if none is */
    const char *pruned;    /**< up to where changes are gone; "": none are */
    const char *last;      /**< the order of the last change if there are more; else NULL */
} log_batch_t;

/** Read one. On the connection that `c` has taken.
 * @param since   a position; NULL: no changes are wanted
 * @param tables  the watched tables: a list of objects with `tbl`; only with `since`
 * @param images  of const sql_table_t *: those whose images are wanted; NULL: none are
 * @return as sql_conn_query; to be freed in any case */
apr_status_t log_batch_read(sql_call_t *c, log_batch_t *batch, const char *since, const json_t *tables,
                            const apr_array_header_t *images);
void log_batch_free(log_batch_t *batch);

#endif
