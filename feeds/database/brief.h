/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file brief.h
 * A brief look at all watched tables: is all that is new announced already (board.h)? One statement, and so one snapshot, which
 * reads no images of rows: mostly it was this server that wrote.
 */
#ifndef DATABASE_BRIEF_H
#define DATABASE_BRIEF_H

#include "board.h"
#include "database.h"

typedef struct database_brief_t {
    const database_t *feed;
    const char *place;             /**< since when */
    const database_marks_t *marks; /**< copied before the look */
    int most;                      /**< of more changes nothing is said */
    const char *told, *now;        /**< where the snapshot is, as told, and as a place; NULL unless `enough` */
    int enough; /**< 1: what is new, if anything, has a mark, no table's place is lost, and no table was altered since it was last read on
                   this connection */
    int altered; /**< 1: tables were altered since */
} database_brief_t;

/** Where places have to be settled first (dialect.h), that is up to the caller. Tables must have been read on this connection once.
 * @return as sql_conn_run */
apr_status_t database_brief_look(sql_call_t *c, database_brief_t *brief);

#endif
