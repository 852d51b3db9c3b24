/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file change_read.h
 * How a page finds its position in the changes of a watched table, and what is new since.
 *
 *     host->create_interest(...);                             // always first
 *     database_change_read_begin(c, &read, table, &wanted);   // a connection, the table, the position, what is new
 *     ...if (read.span.since == NULL) read all, else use read.changes
 *     database_change_read_keep(c, &read);                    // the new position as cursor
 *     database_change_read_end(c, &read, rv);
 *
 * A page that has an offset in the ring reads the changes from there (change_read_ring.h), without SQL. Otherwise rows
 * and cursor come from one snapshot of the database: the next read sees what is committed during this one, and no other
 * read does. One statement is one snapshot. So a page that has a position, and needs only the changes since, costs one
 * statement.
 */
#ifndef DATABASE_CHANGE_READ_H
#define DATABASE_CHANGE_READ_H

#include "database/model/database.h"
#include "database/rows/keys.h"
#include "log/dialect.h"
#include "log/shared.h"

/** Which changes are wanted. */
typedef struct database_wanted_t {
    const char *op;  /**< only these: "I"; NULL: all. A read from the ring may return others too */
    const char *key; /**< only of the row with this key, as text; NULL: of all rows */
    /** only if the old or the new row has this key in its columns; NULL: all. A read may return others too */
    const database_key_t *members;
    const char *attribute; /**< only changes of this column; NULL: all. A read may return others too */
    int most;              /**< the most changes */
    int cut;               /**< 1: more changes do not cause a reset: read->next and read->again say how to continue */
    int anew;              /**< 1: read everything and no changes, whatever position the page has */
    /** 1: only the changes are read, or, if everything must be read, the elements: at most `most`, with the smallest
     * keys. Each comes with the position, in one statement */
    int alone;
    const char *with;         /**< another table, all of whose changes are wanted in the same snapshot: read->with */
    const json_t *properties; /**< with `alone`: names of the elements' properties, and their columns */
} database_wanted_t;

/** One read of a page of the changes of one table. */
typedef struct database_change_read_t database_change_read_t;
struct database_change_read_t {
    const log_dialect_t *dialect;
    /** of this watching of the table; NULL: it is not watched, and the other fields are void */
    const char *watch_id;
    const char *columns;      /**< the columns that the triggers know, as vault_watched stores them */
    const char *told;         /**< the position of the snapshot, in the form of the dialect */
    log_span_t span;          /**< since: NULL at a first view, and after a reset */
    int altered;              /**< the triggers do not know the current columns */
    const char *subscription; /**< identifies a position that outlives the page; NULL: none */
    const char *note; /**< set by the caller: is stored with the position, a text without colons; NULL: nothing */
    const char *next; /**< the position to be stored; that of the snapshot, unless a batch was cut */
    /** since span.since, oldest first: [{"op", "key" (as text), "old": row or null, "new": row or null}, …]; NULL if
     * that is NULL */
    json_t *changes;
    /** with `alone`, without span.since: [{"id", property, …}, …]; NULL if there are no such columns */
    json_t *elements;
    const char *odd; /**< how the database writes the key of the members, if that is different */
    /** the row did not exist at the last read of the page, which waits for more interests than that of its name */
    int was_absent;
    /** set by the caller: the row does not exist, and may be inserted with a key that is written in another way */
    int is_absent;
    /** the page had a position, but the changes since are not known any more: everything must be shown again */
    int reset;
    int again;        /**< there may be more changes beyond `next` already */
    int open;         /**< a transaction is open */
    int is_numbered;  /**< changes were numbered for this read, so that positions are short */
    int is_crowded;   /**< they were not, and the position is long: nothing else is known */
    apr_time_t began; /**< a time before the database was queried */
    log_head_t head;  /**< of the ring, before anything was read */
    log_why_t why;    /**< why the ring could not be used */
    /** the changes are from the ring: no transaction is open, and rows are those of their last images. With
     * wanted->with: neither table has changes */
    int is_from_ring;
    const sql_table_t *table;      /**< the table of the read */
    const sql_table_t *with_table; /**< wanted->with */
    database_change_read_t *with;  /**< the read of its changes. NULL: it is not wanted, or the read is from the ring */
};

/** Take a connection, find `table`, and find the position of the page and the changes since. More than wanted->most
 * changes cause a reset, unless they may be cut.
 * @return APR_SUCCESS; then call database_change_read_end()
 *         other  as sql_conn_take(), sql_catalogue_find(), sql_conn_query(); only the connection is held */
apr_status_t database_change_read_begin(sql_call_t *c, database_change_read_t *read, const char *table,
                                        const database_wanted_t *wanted);

/** As database_change_read_begin(), but refuses a table that is not watched, and sets the reason. */
apr_status_t database_change_read_begin_watched(sql_call_t *c, database_change_read_t *read, const char *table,
                                                const database_wanted_t *wanted);

/** Set that reason. @return APR_EINVAL */
apr_status_t database_change_read_not_watched(sql_call_t *c, const char *table);

/** Refuse a table whose columns are not those that it was watched with. @return APR_EGENERAL */
apr_status_t database_change_read_altered(sql_call_t *c, const char *table);

/** Did the row that the page asks for not exist at its last read (database_change_read_t::was_absent)? Call it before
 * the interests are created. */
int database_change_read_was_absent(const sql_call_t *c);

/** The note that was stored with the page's position (database_change_read_t::note). NULL: none, or the page has no
 * position. */
const char *database_change_read_note(const sql_call_t *c);

/** The position of a snapshot in the changes of a table. */
typedef struct database_watching_t {
    const char *watch_id; /**< of the watching */
    const char *position; /**< its first number only increases */
} database_watching_t;

/** Without a page: find the watching of c->table, which is watched, in a snapshot that has begun.
 * @return as sql_conn_query(); APR_EINVAL: it is not watched any more */
apr_status_t database_watching_find(sql_call_t *c, database_watching_t *where);

/** If `table` is watched: are its columns those that its triggers know? Without a page, outside of a transaction.
 * @return APR_SUCCESS   they are, or it is not watched
 *         APR_EGENERAL  they are not: the reason, which is set, asks for vaultctl watch
 *         other         as sql_catalogue_find(), sql_conn_query() */
apr_status_t database_watching_check_columns(sql_call_t *c, const char *table);

/** Tell the host that the answer is a first view again. */
void database_call_reset(sql_call_t *c);

/** Make read->next the page's cursor. @return APR_SUCCESS; otherwise the reason is set */
apr_status_t database_change_read_keep(sql_call_t *c, const database_change_read_t *read);

/** End the read. @return rv, or why its snapshot could not be ended */
apr_status_t database_change_read_end(sql_call_t *c, database_change_read_t *read, apr_status_t rv);

#endif
