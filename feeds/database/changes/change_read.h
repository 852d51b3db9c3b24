/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file change_read.h
 * How a page finds its position in the changes of a watched table, and what is new since.
 *
 *     host->create_interest(...);                             // first, always
 *     database_change_read_begin(c, &read, table, &wanted);   // a connection, the table, the position, what is new
 *     ...if (read.span.since == NULL) read all, else use read.changes
 *     database_change_read_keep(c, &read);                    // the new position as cursor
 *     database_change_read_end(c, &read, rv);
 *
 * A page that has an offset in the ring takes the changes from there (change_read_ring.h), without SQL. Else rows
 * and cursor come from one snapshot of the database: what is committed during the read is seen by the next one, and
 * only by that. One statement is one snapshot, so a page that has a position and wants nothing but the changes
 * since costs one statement.
 */
#ifndef DATABASE_CHANGE_READ_H
#define DATABASE_CHANGE_READ_H

#include "database/model/database.h"
#include "database/rows/keys.h"
#include "log/dialect.h"
#include "log/shared.h"

/** Which changes are wanted. */
typedef struct database_wanted_t {
    const char *op;                /**< only these: "I"; NULL: all. From the ring others come, too */
    const char *key;               /**< only of the row with this key, as text; NULL: of all rows */
    const database_key_t *members; /**< only where the old or new row has this key in its columns; NULL: all. Others may
                                      come too */
    const char
        *attribute; /**< only where this column differs, or the row came or went; NULL: all. Others may come too */
    int most;       /**< so many at most */
    int cut;        /**< 1: more are no reset: read->next and read->again say how to go on */
    int anew;       /**< 1: no changes are, all is to be read, whatever position the page has */
    int alone; /**< 1: nothing is read beside the changes, or, when all is to be read, the elements, at most `most`,
                  those with the smallest keys. Each comes with the position in one statement */
    const char *with; /**< another table whose changes are wanted in the same snapshot, all of them: read->with */
    const json_t *properties; /**< with `alone`: names of elements' properties, and their columns */
} database_wanted_t;

/** One read of a page of the changes of one table. */
typedef struct database_change_read_t database_change_read_t;
struct database_change_read_t {
    const log_dialect_t *dialect;
    const char *watch_id;     /**< of this watching of the table; NULL: it is not watched, and the rest says nothing */
    const char *columns;      /**< those that the triggers know, as the table says it */
    const char *told;         /**< where the snapshot is, as the dialect tells it */
    log_span_t span;          /**< since: NULL at a first view, and after a reset */
    int altered;              /**< the triggers do not know the columns that there are now */
    const char *subscription; /**< names a position that outlives the page; NULL: none */
    const char *note; /**< set by the caller: what is kept with the position, a text without colons; NULL: nothing */
    const char *next; /**< the position to be kept; the snapshot's unless a batch was cut */
    json_t *changes;  /**< since span.since, oldest first; NULL without it: [{"op", "key" (as text), "old": row or null,
                        "new": row or null}, …] */
    json_t *elements; /**< with `alone`, without span.since: [{"id", property, …}, …]; NULL if there are no such
                      columns */
    const char *odd;  /**< how the database writes the key of the members, if that is another way */
    int was_absent;   /**< what the page asks for was not there at its last read, and it waits for more than its name
                      */
    int is_absent; /**< set by the caller: it is not there, and may come under a name that is written in another way */
    int reset; /**< the page had a position, but what happened since cannot be told: everything is to be shown anew */
    int again; /**< there may be more beyond `next` already */
    int open;  /**< a transaction is */
    int is_numbered;  /**< positions were made short for this read */
    int is_crowded;   /**< they were not, and the one that was found is long: nothing else is known */
    apr_time_t began; /**< before the database was asked */
    log_head_t head;  /**< of the ring, before anything was read */
    log_why_t why;    /**< the ring cannot answer */
    int is_from_ring; /**< the changes are from the ring: no transaction is open, and rows are what their last image
                             says. With wanted->with: there are none, of either table */
    const sql_table_t *table;      /**< that of the read */
    const sql_table_t *with_table; /**< wanted->with */
    database_change_read_t *with;  /**< the read of its changes. NULL: it is not wanted, or the read is from the ring */
};

/** Take a connection, find `table`, see where the page is and what is new since then. More than wanted->most changes
 * make a reset, unless they may be cut.
 * @return APR_SUCCESS; database_change_read_end is due
 *         other  as sql_conn_take, sql_catalogue_find, sql_conn_query; nothing is held but the connection */
apr_status_t database_change_read_begin(sql_call_t *c, database_change_read_t *read, const char *table,
                                        const database_wanted_t *wanted);

/** database_change_read_begin, which refuses a table that is not watched with a sentence. */
apr_status_t database_change_read_begin_watched(sql_call_t *c, database_change_read_t *read, const char *table,
                                                const database_wanted_t *wanted);

/** That sentence. @return APR_EINVAL */
apr_status_t database_change_read_not_watched(sql_call_t *c, const char *table);

/** Refuse a table that has other columns than when it was watched. @return APR_EGENERAL */
apr_status_t database_change_read_altered(sql_call_t *c, const char *table);

/** Was what the page asks for not there when it last looked (database_change_read_t::was_absent)? Asked before the
 * interests are created. */
int database_change_read_was_absent(const sql_call_t *c);

/** What was kept with the page's position (database_change_read_t::note). NULL: nothing, or the page has no
 * position. */
const char *database_change_read_note(const sql_call_t *c);

/** Where a snapshot is in the changes of a table. */
typedef struct database_watching_t {
    const char *watch_id; /**< of the watching */
    const char *position; /**< its first number only grows */
} database_watching_t;

/** Without a page: of c->table, which is watched, in a snapshot that was begun.
 * @return as sql_conn_query; APR_EINVAL: it is watched no more */
apr_status_t database_watching_find(sql_call_t *c, database_watching_t *where);

/** Has `table`, if it is watched, the columns that its triggers know? Without a page, outside of a transaction.
 * @return APR_SUCCESS   it has, or it is not watched
 *         APR_EGENERAL  it has others: vaultctl watch is due, as the sentence says
 *         other         as sql_catalogue_find, sql_conn_query */
apr_status_t database_watching_check_columns(sql_call_t *c, const char *table);

/** Tell the host that the answer is a first view again. */
void database_call_reset(sql_call_t *c);

/** Make read->next the page's cursor. @return APR_SUCCESS, or a sentence was given */
apr_status_t database_change_read_keep(sql_call_t *c, const database_change_read_t *read);

/** End the read. @return rv, or why its snapshot could not be ended */
apr_status_t database_change_read_end(sql_call_t *c, database_change_read_t *read, apr_status_t rv);

#endif
