/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file changes.h
 * The change table, read: one statement says how a table is watched, where the snapshot is, and what is new.
 *
 * All read c->table, and the changes from look->span.since on. Who looks for a page has look.h.
 */
#ifndef DATABASE_CHANGES_H
#define DATABASE_CHANGES_H

#include "look.h"

/** Take the first DATABASE_CELLS_WATCHED cells of the first row, or, where the dialect unites, of each that has them: one is of the watching, the others
 * have parts of the place. The look has neither when its statement begins.
 * @return 1: the watching has come */
int database_changes_hear(sql_call_t *c, database_look_t *look, const char *const *cells);

/** What is said of the watching, and, if look->span.since is not NULL, the changes since: in one statement, which is one snapshot.
 * @param rows   a new reference: as look->changes, but one more than wanted->most at most, and with images still to be decoded; empty without
 * look->span.since
 * @param heard  1: database_changes_hear was called; 0: c->table is not watched
 * @return as sql_conn_run; APR_ENOMEM: a sentence was given; `rows` is to be given back each time */
apr_status_t database_changes_fetch(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted,
                                    json_t **rows, int *heard);

/** Cut `rows`, which were fetched, to what is wanted, and decode their images. Sets look->next and look->again.
 * @return as database_image_decode */
apr_status_t database_changes_understand(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted,
                                         json_t *rows);

/** Only what is new in c->table since look->span.since, at look->span.now, in a snapshot that was begun: as look->changes, each
 * with its "id". Sets look->next and look->again.
 * @param changes  a new reference
 * @return as sql_conn_query */
apr_status_t database_changes_read(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted,
                                   json_t **changes);

/** What the transaction that is open has recorded of c->table, in it: as look->changes, but with images still to be decoded (image.h), each
 * with its "id", and the "epoch" of the watching. Some of what others have committed may be there, too.
 * @param floor    as database_dialect_t::append_own
 * @param images   0: not "old" and "new"
 * @param changes  a new reference; at most `most` + 1; none if the table is not watched. Each has what the snapshot told, too: "now",
 * and, where places are snapshots, of the transaction "xid", and whether it has recorded nothing "alone" (1) or something else, too (0) */
apr_status_t database_changes_own(sql_call_t *c, apr_int64_t floor, int most, int images, json_t **changes);

#endif
