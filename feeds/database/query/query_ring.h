/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file query_ring.h
 * Can the changes since the page's last run of its query have changed the result? If not, the query is not run again.
 *
 * A change is skipped if its table does not belong to the query, or if neither its old nor its new row has the values
 * that the query's WHERE requires of that table (query_conditions.h). Conditions are used only if images and the
 * database agree on what is equal: for whole numbers in columns of integers, and for texts in columns where only the
 * same text is equal. Any other change makes the query run.
 */
#ifndef DATABASE_QUERY_RING_H
#define DATABASE_QUERY_RING_H

#include "database/changes/change_read_ring.h"
#include "database/query/reads.h"
#include "log/shared.h"

/** With a connection.
 * @param reads   what the query reads
 * @param cursor  that of the page: boot and offset are used
 * @param why     the reason for the result 0
 * @return 1: the result has not changed; 0: the database must be queried */
int database_query_is_same(sql_call_t *c, const json_t *query, const database_reads_t *reads,
                           const database_cursor_t *cursor, const log_head_t *head, log_why_t *why);

#endif
