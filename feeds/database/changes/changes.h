/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file changes.h
 * Reads the change table: one statement returns how a table is watched, the position of the snapshot, and the changes.
 *
 * All functions read c->table, and changes since read->span.since. change_read.h has the reads of pages.
 */
#ifndef DATABASE_CHANGES_H
#define DATABASE_CHANGES_H

#include "database/changes/change_read.h"

/** Read the first DATABASE_CELLS_WATCHED cells of the first row, which describe the watching. These fields of the read
 * are empty when its statement begins. */
void database_changes_hear(sql_call_t *c, database_change_read_t *read, const char *const *cells);

/** Read the cells of the watching and, if read->span.since is not NULL, the changes since: in one statement, which is
 * one snapshot. read->watch_id stays NULL if c->table is not watched.
 * @param rows   a new reference: as read->changes, but with one change more than wanted->most, and with images that are
 *         not decoded; empty without read->span.since. The caller releases it in any case
 * @return as sql_conn_run(); APR_ENOMEM: the reason is set */
apr_status_t database_changes_fetch(sql_call_t *c, database_change_read_t *read, const database_wanted_t *wanted,
                                    json_t **rows);

/** Cut `rows`, which were fetched, to what is wanted, and decode their images. Sets read->next and read->again.
 * @return as log_image_decode() */
apr_status_t database_changes_understand(sql_call_t *c, database_change_read_t *read, const database_wanted_t *wanted,
                                         json_t *rows);

#endif
