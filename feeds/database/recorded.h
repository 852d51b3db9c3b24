/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file recorded.h
 * What a write has recorded in the change table: announced by the writer, so that the watcher need not again (board.h).
 *
 *     database_recorded_begin(c, &recorded);             // before the connection is taken
 *     sql_conn_take(c);
 *     …write…
 *     database_recorded_read(c, &recorded, touched);     // in the transaction
 *     sql_conn_commit(c);
 *     database_recorded_publish(c, &recorded);           // if the commit went well
 *     if (database_touched_notify(touched)) {            // likewise
 *         database_recorded_leave(c, &recorded);
 *     }
 */
#ifndef DATABASE_RECORDED_H
#define DATABASE_RECORDED_H

#include "board.h"
#include "interests.h"

/** A row that was inserted. */
typedef struct database_inserted_t {
    const char *key;   /**< as text; NULL: it has none */
    const char *image; /**< database_dialect_t::image_of; NULL: nobody knows it */
} database_inserted_t;

typedef struct database_recorded_t {
    database_era_t era;
    database_mark_t *marks; /* in c->pool */
    const char *
        *inserted; /* keys of rows that were inserted, of those changes; ends with NULL; in c->pool. NULL: none */
    int count;
    apr_int64_t
        whole; /* up to this number all is read, or was announced before; -1: nobody knows. Where ids have no gaps */
    database_packed_t *packed; /* likewise: all that was read */
    int packed_count;
    int is_alone;      /* it was read: all of it is one change (database_dialect_t::alone) */
    apr_uint64_t life; /* of the transaction's snapshot */
    apr_int64_t now;   /* its last change; -1: nobody knows */
    apr_time_t read_at;      /* before it was read */
    const char *epoch, *saw; /* of the watching, and the place; in c->pool; NULL: nothing was read, or nobody wants to know (glimpse.h) */
} database_recorded_t;

/** Nothing is recorded yet. */
void database_recorded_begin(sql_call_t *c, database_recorded_t *recorded);

/** Read what the open transaction has recorded of c->table, and add its interests to those touched. Does nothing where nobody
 * watches.
 * @param row  the only one that was inserted, as the statement gave it; NULL: there are others, or other changes
 * @return as sql_conn_query */
apr_status_t database_recorded_read(sql_call_t *c, database_recorded_t *recorded, database_touched_t *touched,
                                    const database_inserted_t *row);

/** Has it announced that this row was inserted? @param key  as text; NULL: none */
int database_recorded_inserted(const database_recorded_t *recorded, const char *key);

/** All of that was committed: let looks find it without the database. Where they cannot, nothing of it counts as announced later. */
void database_recorded_publish(sql_call_t *c, database_recorded_t *recorded);

/** All of that was committed, and then announced. */
void database_recorded_leave(sql_call_t *c, const database_recorded_t *recorded);

#endif
