/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file changes.h
 * What has changed in a watched table since a page last looked.
 *
 *     host->create_interest(…);                        // first, always
 *     database_look_begin(c, &look, table);            // a connection, the table, one snapshot; the page's place in it
 *     …if (look.since == NULL) read all, else database_look_changes(…)
 *     database_look_keep(c, &look);                    // the new place, of the same snapshot, as cursor
 *     database_look_end(c, &look);
 *
 * Rows and cursor come from one snapshot: what is committed during the look is seen by the next one, and only by that.
 */
#ifndef DATABASE_CHANGES_H
#define DATABASE_CHANGES_H

#include "database.h"
#include "dialect.h"

/** One look of a page at one table. */
typedef struct database_look_t {
    const database_dialect_t *dialect;
    const char *epoch;        /**< of this watching of the table; NULL: it is not watched, and the rest says nothing */
    database_span_t span;     /**< since: NULL at a first view, and after a reset */
    int altered;              /**< the triggers do not know the columns that there are now */
    const char *subscription; /**< names a place that outlives the page; NULL: none */
    const char *next;         /**< the place to be kept; the snapshot's unless a batch was cut */
    int reset; /**< the page had a place, but what happened since cannot be told: everything is to be shown anew */
    int again; /**< there may be more beyond `next` already */
} database_look_t;

/** Which changes are wanted. */
typedef struct database_wanted_t {
    const char *op;  /**< only these: "I"; NULL: all */
    const char *key; /**< only of the row with this key, as text; NULL: of all rows */
    const sql_column_t
        *column; /**< only where the old or new row has `value` in this column; NULL: all. Others may come too */
    const char *value;
    int most; /**< so many at most */
} database_wanted_t;

/** Take a connection, find `table`, begin a snapshot, and see where the page is.
 * @return APR_SUCCESS; database_look_end is due
 *         other  as sql_conn_take and sql_catalogue_find; nothing is held but the connection */
apr_status_t database_look_begin(sql_call_t *c, database_look_t *look, const char *table);

/** Likewise; a table that is not watched is refused with a sentence. */
apr_status_t database_look_begin_watched(sql_call_t *c, database_look_t *look, const char *table);

/** What is new since look->span.since, oldest first.
 *
 * More than wanted->most make a reset, unless they may be cut: look->span.since is NULL then, and *changes an empty list.
 * @param cut      1: more than wanted->most are no reset: look->next and look->again say how to go on
 * @param changes  a new reference: [{"op", "key" (as text), "old": row or null, "new": row or null}, …]
 * @return as sql_conn_query */
apr_status_t database_look_changes(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted, int cut,
                                   json_t **changes);

/** Tell the host that the answer is a first view again. */
void database_call_reset(sql_call_t *c);

/** Make look->next the page's cursor. @return APR_SUCCESS, or a sentence was given */
apr_status_t database_look_keep(sql_call_t *c, const database_look_t *look);

/** An image, as the change table has it, to a row. @return a new reference; NULL: none, or it cannot be read */
json_t *database_image_row(const char *image);

/** End the snapshot. @return rv, or why it could not be ended */
apr_status_t database_look_end(sql_call_t *c, apr_status_t rv);

#endif
