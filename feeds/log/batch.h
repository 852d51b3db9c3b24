/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file batch.h
 * What the tailer reads from the database with one statement, which is one snapshot: the position of the database, the
 * set of watched tables, and the first changes after a position, of all watched tables.
 *
 * Only the thread of the tailer uses it.
 */
#ifndef LOG_BATCH_H
#define LOG_BATCH_H

#include <jansson.h>

#include "log/dialect.h"

typedef struct log_batch_t {
    json_t *rows;          /**< the changes, oldest first: tbl, op, key, id, number, old, new, altered; a reference */
    const char *told;      /**< the position of the database, in the database's own form */
    const char *now;       /**< the same as a position (position.h) */
    const char *watchings; /**< a text that differs whenever other tables are watched; "" if none is */
    const char *pruned;    /**< the position up to which changes have been pruned; "": none have been */
    const char *last;      /**< if there are more changes: the order of the last one in this batch; else NULL */
} log_batch_t;

/** Read one batch, on the connection that `c` has taken.
 * @param since   a position; NULL: read no changes
 * @param tables  the watched tables: a list of objects with `tbl`; only with `since`
 * @param images  of const sql_table_t *: the tables whose images are read; NULL: none
 * @return as sql_conn_query(); log_batch_t must be freed in any case */
apr_status_t log_batch_read(sql_call_t *c, log_batch_t *batch, const char *since, const json_t *tables,
                            const apr_array_header_t *images);
void log_batch_free(log_batch_t *batch);

#endif
