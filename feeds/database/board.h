/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file board.h
 * What the children of one VaultFeed share about its watched tables: who watches, how far that is, and which changes were
 * announced already by whoever wrote them.
 *
 * Memory of the parent's, inherited by children, kept over graceful restarts as long as the feed's parameters and its model stay.
 *
 * A writer announces what it wrote itself, after its commit, and then leaves a *mark* for each recorded change: the watcher
 * passes over changes that are marked. This loses nothing:
 *
 *   - a mark is left after the notify, and that after the commit: whoever has read the data before has an older stamp;
 *   - a writer that dies before has left no mark, and the watcher announces;
 *   - a mark is of one change, by its id, not of a range: what other transactions recorded in between has none;
 *   - a change has a mark only if the writer has read it in the change table and announced every interest that it touches. The
 *     mark is of the table's epoch and of the model, too: one of another database, or by a child that has an older model,
 *     fits no change;
 *   - a database that was restored has the epoch of the one that it was saved from, and gives its ids again. So marks are of an *era*
 *     as well, which ends when the watcher has to connect again, or finds that changes are gone; a writer takes the era that there is before it takes a connection:
 *     what it then writes is in the database of that era, or in an older one, and never in a newer one with a newer one's mark;
 *   - marks that are overwritten by newer ones, or come while the watcher reads, cost an extraneous announcement;
 *   - before a mark is left, or the watcher's place goes beyond a change, looks know that it is there (recent.h);
 *   - marks that were there before a look began are taken off when it is done: what they are of was in it, or is behind it.
 *
 * Where the database tells who listens of each commit (PostgreSQL), a writer keeps it from that, since to be told costs more than the
 * write does: its change is the only one that its transaction has recorded, in all tables, and it will announce it; or there is none.
 * Then the watcher looks by the clock, as it does anyway, and finds marks. If the writer dies before it has announced, the parent has all
 * pages look, and the watcher finds no mark, up to two seconds later. Another server that listens has to be told of every commit; so all
 * writers are quiet only while the watcher can look, and knows of none. One that begins to listen looks at all that there is first, and is told of
 * each commit as soon as this watcher knows of it, some ten seconds later; until then it looks by the clock, every two.
 */
#ifndef DATABASE_BOARD_H
#define DATABASE_BOARD_H

#include "database.h"
#include "recent.h"

/** The longest place, with its NUL. */
#define DATABASE_PLACE_BYTES VAULT_PROPERTY_VALUE_MAX
/** Marks at once: what is written between two looks, or some of it is announced twice. */
#define DATABASE_MARKS 1024

/** Of one change; 0: none. */
typedef apr_uint64_t database_mark_t;

/** In the parent: make the board, or find it again after a restart. @return NULL, or a sentence */
const char *database_board_open(database_t *feed, const apr_table_t *given, apr_pool_t *pconf);

/** Watch for all children, if nobody does. Any thread, but one of each process at a time.
 * @return 1: this process watches until database_board_unlock, or until it ends, however it ends */
int database_board_lock(const database_t *feed);
void database_board_unlock(const database_t *feed);
/** When database_board_lock has failed. @return a descriptor, to be closed, that is readable when the process ends that was last known to watch; -1: there
 * is none (not known yet, or Linux before 5.3) */
int database_board_await(const database_t *feed);

/** The place up to which everything was announced. By who watches.
 * @param place  DATABASE_PLACE_BYTES long; "": nobody has looked yet */
void database_board_read_place(const database_t *feed, char *place);
/** Keep it, after the announcements: who takes over repeats some rather than skip any. "": nobody knows any more. */
void database_board_keep_place(const database_t *feed, const char *place);
/** Is that place of this incarnation of the database (database_dialect_t::incarnation)? If it is not, the watcher
 * forgets the place before it keeps the incarnation. By who watches.
 * @param incarnation  NULL: there is none, and the place is of it */
int database_board_is_of(const database_t *feed, const char *incarnation);
void database_board_keep_incarnation(const database_t *feed, const char *incarnation);
/** Up to this number, with which a place begins, all was announced, or what database_dialect_t::floor_of says; -1: nobody watches yet. Any
 * thread: it may be older than the place is, or newer by what writers have announced. */
apr_int64_t database_board_floor(const database_t *feed);
/** A writer has announced all up to there. */
void database_board_raise_floor(const database_t *feed, apr_int64_t floor);

/** The footprint (footprint.h) of a database of which all is announced; 0: nobody knows one. Any thread. */
apr_uint64_t database_board_known(const database_t *feed);
void database_board_know(const database_t *feed, apr_uint64_t footprint);

/** When that look of a page began which last saw that all is announced (glimpse.h); 0: none did. Any thread. */
apr_time_t database_board_seen(const database_t *feed);
void database_board_see(const database_t *feed, apr_time_t began);

/** The era, before a connection is taken. Any thread. */
database_era_t database_board_era(const database_t *feed);
/** By who watches, with a connection that is new, or when changes are gone: the database may be another one than before. */
void database_board_end_era(const database_t *feed);

/** May a writer that announces all it writes keep from telling who listens (database_dialect_t::begin_quietly)? Only as long as nobody
 * else listens, and once in a while not: the watcher is to see where the database is before marks are overwritten. Any thread. */
int database_board_is_quiet(const database_t *feed);
/** By who watches. @param quiet  nobody else listens, as far as anybody knows */
void database_board_set_quiet(const database_t *feed, int quiet);

/** What children have written lately. */
database_recent_t *database_board_recent(const database_t *feed);

/** The mark of the change `id` of a table that was watched as `epoch`. Never 0. */
database_mark_t database_board_mark(const database_t *feed, database_era_t era, const char *epoch, apr_int64_t id);
/** Leave marks, after the announcement. Any thread of any child. */
void database_board_leave(const database_t *feed, const database_mark_t *marks, int count);
/** Was it left, and is it still there? Any thread. */
int database_board_has(const database_t *feed, database_mark_t mark);

/** The marks at one time. */
typedef struct database_marks_t {
    database_era_t era;
    apr_uint32_t next; /**< how many were ever left */
    database_mark_t at[DATABASE_MARKS];
} database_marks_t;

void database_board_copy(const database_t *feed, database_marks_t *marks);
int database_marks_have(const database_marks_t *marks, database_mark_t mark);
/** Take those marks off. */
void database_board_clear(const database_t *feed, const database_marks_t *marks);

#endif
