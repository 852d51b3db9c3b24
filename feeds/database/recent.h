/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file recent.h
 * What this server has written lately, in memory that its children share: a page that is woken by it need not ask the database.
 *
 * Where ids of changes have no gaps and are the places of readers (SQLite), a writer that has committed leaves a copy of each
 * change that it has recorded, on the board, and raises the *end*: up to that id all was left here, or is to be read in the
 * database. A look from a place on takes the changes up to the end, and has the end as its new place, if it finds each of them
 * and nobody else has written (footprint.h). Else it asks the database as ever.
 *
 * This loses nothing, and shows nothing twice:
 *
 *   - a copy is left after the commit, under the number of the change, with a checksum: one that is half written, was
 *     overwritten, or is of something else is none;
 *   - whoever announces a change for good, by a mark or by the watcher's place (board.h), has raised the end to it before. So
 *     what a look does not find below the end is announced to its page later;
 *   - the end never falls, but in another *life*: another file, another schema, as after `vaultctl watch`, or another era (board.h). A copy, a writer
 *     and a look of another life than the board's are not believed, and such a writer leaves no marks, so that the watcher
 *     announces what it wrote;
 *   - the watcher begins a life, in the snapshot of a look, before it announces what that has found. A writer of the life before
 *     may just then raise the end too far: nothing is there, and the database is asked until it is.
 *
 * What a stranger commits in the same tick of the file's clock as the feed is hidden from looks as long as from the watcher.
 *
 * Where places are sets (PostgreSQL, MariaDB) all of this is done in another way: joined.h.
 */
#ifndef DATABASE_RECENT_H
#define DATABASE_RECENT_H

#include "copies.h"
#include "database.h"
#include "listed.h"
#include "look.h"

/** Of the time in which the database was surely the same. */
typedef apr_uint32_t database_era_t;

/** Changes that are kept. */
#define DATABASE_RECENT 1024
/** Changes that are known without a number: joins_lists.c. */
#define DATABASE_KNOWN 2048

/** A part of the board. All zero: no life has begun. */
typedef struct database_recent_t {
    _Atomic apr_uint64_t life;        /* atomic */
    _Atomic apr_int64_t end;          /* atomic */
    _Atomic apr_int64_t top;          /* atomic: joined.h */
    _Atomic apr_uint64_t first, last; /* atomic: likewise, numbers of copies: before the first, and the last one */
    database_copy_t changes[DATABASE_RECENT];
    _Atomic apr_uint64_t known[DATABASE_KNOWN]; /* atomic, each: of places that are lists; such a change is left, or has an end */
    database_numbers_t numbers;                 /* likewise: listed.h */
} database_recent_t;

/** The life of the file that c->conn has open, in this era, with the schema `generation`. 0: none, since nobody can tell there. */
apr_uint64_t database_recent_life(const sql_call_t *c, database_era_t era, apr_int64_t generation);
/** Likewise, with the schema that the tables of c->conn were read in. */
apr_uint64_t database_recent_life_here(const sql_call_t *c, database_era_t era);

/** By who watches, before it announces what a snapshot has: all changes up to `now`.
 * @param life  of that snapshot */
void database_recent_begin(const database_t *feed, apr_uint64_t life, apr_int64_t now);

/** Leave copies of what was committed, and raise the end to `now`; before it is announced. Any thread of any child.
 * @return 0: the board is of another life; nothing was left */
int database_recent_leave(const database_t *feed, apr_uint64_t life, database_packed_t *packed, int count,
                          apr_int64_t now);

/** Look at c->table from `place` on, in the watching `epoch`, without the database. Only what is wanted `alone`. Any thread.
 * @return 1: done, as if look_since had found it (look.c); 0: the database has to be asked */
int database_recent_look(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted, const char *place,
                         const char *epoch);

#endif
