/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file change_read_ring.h
 * Reads what is new for a page from the ring, without SQL.
 */
#ifndef DATABASE_CHANGE_READ_RING_H
#define DATABASE_CHANGE_READ_RING_H

#include "database/changes/change_read.h"

/** The position of a page: its cursor, parsed. */
typedef struct database_cursor_t {
    const char *watch_id; /**< of the watching */
    apr_uint64_t boot;    /**< of the ring; 0: the cursor has no offset in a ring */
    apr_uint64_t offset;  /**< in the ring: `position` contains all entries before it */
    const char *position; /**< NULL: this is not a cursor of a watched table */
} database_cursor_t;

/** Read the text of an offset in a ring, `BOOT.OFFSET:`, into `boot` and `offset`. If it is another text, boot is set
 * to 0. */
void database_cursor_read_offset(database_cursor_t *cursor, const char *text);
/** The text of the offset at this head, without the colon; "-" if there is no ring. In `pool`. */
const char *database_cursor_offset(const log_head_t *head, apr_pool_t *pool);

/**
 * Read what is wanted of c->table, from the cursor to read->head. Any thread.
 * @param why  the reason for the result 0
 * @return 1: read->changes and read->next are set, as if the database had been queried; 0: the database must be queried
 */
int database_change_read_in_ring(sql_call_t *c, database_change_read_t *read, const database_wanted_t *wanted,
                                 const database_cursor_t *cursor, log_why_t *why);

#endif
