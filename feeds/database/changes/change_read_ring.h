/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file change_read_ring.h
 * What is new for a page, from the ring: without SQL.
 */
#ifndef DATABASE_CHANGE_READ_RING_H
#define DATABASE_CHANGE_READ_RING_H

#include "database/changes/change_read.h"

/** Where a page is: its cursor, parsed. */
typedef struct database_cursor_t {
    const char *watch_id; /**< of the watching */
    apr_uint64_t boot;    /**< of the ring; 0: it has no offset in one */
    apr_uint64_t offset;  /**< in the ring: all entries before it are contained in `position` */
    const char *position; /**< NULL: this is no cursor of a watched table */
} database_cursor_t;

/** Read an offset in a ring, `BOOT.OFFSET:`, into `boot` and `offset`; with any other text boot becomes 0. */
void database_cursor_read_offset(database_cursor_t *cursor, const char *text);
/** The text of the offset at this head, without the colon; "-" if there is no ring. In `pool`. */
const char *database_cursor_offset(const log_head_t *head, apr_pool_t *pool);

/** Take what is wanted of c->table, from the cursor to read->head. Any thread.
 * @param why  if not: why
 * @return 1: read->changes and read->next are set, as if the database had been asked; 0: it has to be asked */
int database_change_read_in_ring(sql_call_t *c, database_change_read_t *read, const database_wanted_t *wanted,
                                 const database_cursor_t *cursor, log_why_t *why);

#endif
