/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file changes.h
 * The change table, read: one statement says how a table is watched, where the snapshot is, and what is new.
 *
 * All read c->table, and the changes from read->span.since on. Reads for a page are in change_read.h.
 */
#ifndef DATABASE_CHANGES_H
#define DATABASE_CHANGES_H

#include "database/changes/change_read.h"

/** Take the first DATABASE_CELLS_WATCHED cells of the first row: they say how the table is watched. The read has
 * nothing of that when its statement begins. */
void database_changes_hear(sql_call_t *c, database_change_read_t *read, const char *const *cells);

/** What is said of the watching, and, if read->span.since is not NULL, the changes since: in one statement, which
 * is one snapshot.
 * @param rows   a new reference: as read->changes, but one more than wanted->most at most, and with images still
 * to be decoded; empty without read->span.since read->watch_id stays NULL where c->table is not watched.
 * @return as sql_conn_run; APR_ENOMEM: a sentence was given; `rows` is to be given back each time */
apr_status_t database_changes_fetch(sql_call_t *c, database_change_read_t *read, const database_wanted_t *wanted,
                                    json_t **rows);

/** Cut `rows`, which were fetched, to what is wanted, and decode their images. Sets read->next and read->again.
 * @return as log_image_decode */
apr_status_t database_changes_understand(sql_call_t *c, database_change_read_t *read, const database_wanted_t *wanted,
                                         json_t *rows);

#endif
