/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file query_ring.h
 * Can the changes since a page's last run of its query have changed the result? If not, the query is not run again.
 *
 * A change is passed over if its table is none of the query's, or if neither its old nor its new row has what
 * the query's WHERE demands of that table (query_conditions.h). Demands count only where images and the database
 * are sure to agree on what is equal: whole numbers in columns of integers, and texts in columns in which only
 * the same text is equal. All else lets the query run.
 */
#ifndef DATABASE_QUERY_RING_H
#define DATABASE_QUERY_RING_H

#include "database/changes/change_read_ring.h"
#include "database/query/reads.h"
#include "log/shared.h"

/** On a connection.
 * @param reads   what the query reads
 * @param cursor  the page's: boot and offset count
 * @param why     if they can: why the database is asked
 * @return 1: the result is what it was */
int database_query_is_same(sql_call_t *c, const json_t *query, const database_reads_t *reads,
                           const database_cursor_t *cursor, const log_head_t *head, log_why_t *why);

#endif
