/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file tail.h
 * What the tailer does with a batch (batch.h): it appends the changes since its position to the ring, publishes them
 * with the new position, and notifies the interests that they touch, in this order.
 *
 * With this order no change is lost. A page that is notified finds the changes in the ring. If a tailer is killed
 * before the head is published, nothing was done, and its successor reads the same changes again. If it is killed
 * between the head and the notifies, pages were not notified of these changes: the parent notifies all pages when a
 * child dies.
 *
 * The pages of other servers are not notified: the tailer of each server reads the same changes.
 *
 * A new boot of the ring (ring.h) begins from the current position of the database, and all pages are notified, in
 * these cases: the tailer has made a new connection; its position contains changes that do not exist any more (the
 * database was restored); changes that it has not read were pruned; there are more changes than one read takes. A new
 * boot begins from the same position if other tables are watched, or if the columns of one have changed.
 *
 * Only one thread of the process that is the tailer uses it.
 */
#ifndef LOG_TAIL_H
#define LOG_TAIL_H

#include <jansson.h>

#include "log/dialect.h"
#include "log/shared.h"

typedef struct log_tail_t {
    const change_log_t *feed;
    const log_dialect_t *dialect;
    log_head_t head;     /**< of the ring, as last published */
    int is_over;         /**< a new boot must begin, from the current position of the database */
    int has_connected;   /**< this process has read before, by another connection */
    json_t *tables;      /**< the watched tables, as in vault_watched; NULL: they must be listed again */
    apr_int64_t version; /**< version number of the database at the last read, if the driver has one; -1: unknown */
    char complained[SQL_SAID_MAX];
} log_tail_t;

/** This process has become the tailer. */
void log_tail_take_over(log_tail_t *tail);
/** There is a new connection. @param incarnation  of the database; NULL: it reports none */
void log_tail_connect(log_tail_t *tail, const char *incarnation);
/** Read once, and notify.
 * @param watched  0: the database has no table vault_watched
 * @param again    1: there may be more changes already
 * @return as sql_conn_query() */
apr_status_t log_tail_read(log_tail_t *tail, sql_call_t *c, int *watched, int *again);
/** Free what it holds. */
void log_tail_end(log_tail_t *tail);

#endif
