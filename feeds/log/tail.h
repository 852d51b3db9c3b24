/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file tail.h
 * What the tailer does with what it reads (batch.h): it appends the changes since its position to the ring, publishes
 * them with the new position, and notifies the interests that they touch, in this order.
 *
 * The order is what loses nothing. A page that is notified finds the changes in the ring. A tailer that is killed
 * before the head is published has done nothing; its successor reads the same changes again. One that is killed
 * between the head and the notifies leaves changes of which no page is notified: the parent notifies all pages when
 * a child dies.
 *
 * A new boot of the ring (ring.h) begins, from where the database is now on, and all pages are notified, when the
 * tailer has made a new connection, when its position is of what is no more (the database was restored, or changes
 * were pruned that it has not read), and when there are more changes than one read takes. One begins from the same
 * position on when other tables are watched, or one has other columns.
 *
 * One thread of the process that is the tailer.
 */
#ifndef LOG_TAIL_H
#define LOG_TAIL_H

#include <jansson.h>

#include "log/dialect.h"
#include "log/shared.h"

typedef struct log_tail_t {
    const change_log_t *feed;
    const log_dialect_t *dialect;
    log_head_t head;     /**< of the ring, as it was published last */
    int is_over;         /**< a new boot has to begin, from where the database is now on */
    int has_connected;   /**< this process has read before, on another connection */
    json_t *tables;      /**< the watched tables, as vault_watched has them; NULL: they have to be listed */
    apr_int64_t version; /**< of the database at the last read, where the driver can tell; -1: not known */
    char complained[SQL_SAID_MAX];
} log_tail_t;

/** This process has become the tailer. */
void log_tail_take_over(log_tail_t *tail);
/** There is a new connection. @param incarnation  of the database; NULL: it tells none */
void log_tail_connect(log_tail_t *tail, const char *incarnation);
/** Read once, and tell.
 * @param watched  0: the database has no table vault_watched
 * @param again    1: there may be more already
 * @return as sql_conn_query */
apr_status_t log_tail_read(log_tail_t *tail, sql_call_t *c, int *watched, int *again);
/** Free what it holds. */
void log_tail_end(log_tail_t *tail);

#endif
