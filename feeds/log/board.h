/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file board.h
 * What the children of one VaultFeed share about its watched tables: which of them is the tailer, the ring of changes
 * that it has read, and how writers of this server wait for it.
 *
 * Memory of the parent's, inherited by children, kept over graceful restarts as long as the feed's parameters and
 * what it touches stay.
 *
 * A writer commits, takes a *ticket* and pokes the tailer. The tailer notes the last ticket before it reads the
 * database, and serves all up to it when it has appended what it read to the ring and notified. So a writer whose
 * ticket was served knows that all pages have been told of its change.
 */
#ifndef DATABASE_BOARD_H
#define DATABASE_BOARD_H

#include "change_log.h"
#include "ring.h"

/** In the parent: make the board, or find it again after a restart.
 * @param touches  another text whenever database_log_t::touch does something else: the tailer of the generation before,
 *                 still there for a while, touches what it did
 * @return NULL, or a sentence */
const char *database_board_open(database_log_t *feed, const apr_table_t *given, const char *touches, apr_pool_t *pconf);

/** Become the tailer of all children, if nobody is. Any thread, but one of each process at a time.
 * @return 1: this process is, until database_board_unlock, or until it ends, however it ends */
int database_board_lock(const database_log_t *feed);
void database_board_unlock(const database_log_t *feed);
/** When database_board_lock has failed. @return a descriptor, to be closed, that is readable when the process ends that
 * is the tailer; -1: there is none (not known yet, or Linux before 5.3) */
int database_board_await(const database_log_t *feed);
/** The process that is the tailer; 0: none is, also when it was killed. Any thread. */
pid_t database_board_tailer(const database_log_t *feed);

/** Is the ring of this incarnation of the database (database_dialect_t::incarnation)? By the tailer.
 * @param incarnation  NULL: there is none, and it is */
int database_board_is_of(const database_log_t *feed, const char *incarnation);
void database_board_keep_incarnation(const database_log_t *feed, const char *incarnation);

database_ring_t *database_board_ring(const database_log_t *feed);
/** The life of the ring; 0: none. Any thread. */
apr_uint64_t database_board_boot(const database_log_t *feed);

/* ------------------------------------------------------------ tickets */

/** A writer waits for a tailer no longer than this, in milliseconds. */
#define DATABASE_PATIENCE 100

/** Poke the tailer and wait until it has told of all that was committed before, or DATABASE_PATIENCE. Any thread.
 * @return 1: pages were told; 0: they will be later, since no tailer can read now, or it takes longer */
int database_board_ask(const database_log_t *feed);

/** By the tailer, before it reads: the last ticket. Forgets that it was poked. */
apr_uint32_t database_board_take(const database_log_t *feed);
/** By the tailer, after it has notified. */
void database_board_serve(const database_log_t *feed, apr_uint32_t ticket);
/** How the last read of a tailer has ended. */
typedef enum database_reading_t {
    DATABASE_READING_NOT,         /**< there was none yet, or the tailer has left off */
    DATABASE_READING_UNREACHABLE, /**< the database could not be asked */
    DATABASE_READING_UNWATCHED,   /**< it has no watched table */
    DATABASE_READING_DONE,        /**< all changes were read */
} database_reading_t;

/** By the tailer. Writers wait for one that can read. */
void database_board_set_reading(const database_log_t *feed, database_reading_t reading);
database_reading_t database_board_reading(const database_log_t *feed);
/** Readable when the tailer was poked. */
int database_board_poked(const database_log_t *feed);

/* ------------------------------------------------------------ figures */

/** Why a page has asked the database. */
typedef enum database_why_e {
    DATABASE_WHY_FIRST,       /**< it had no cursor: a first view */
    DATABASE_WHY_UNWATCHED,   /**< the table is not watched */
    DATABASE_WHY_NOT_IN_RING, /**< its cursor has no offset in a ring */
    DATABASE_WHY_BOOT,        /**< its cursor is of another life of the ring */
    DATABASE_WHY_OVERWRITTEN, /**< what it needs was overwritten */
    DATABASE_WHY_TOO_LARGE,   /**< a change was too large for the ring, or of other columns than the page knows */
    DATABASE_WHY_LINKS,       /**< elements are found through links, and a link or an element has changed */
    DATABASE_WHY_TOO_MANY,    /**< there were more changes than an answer may have */
    DATABASE_WHY_QUERY,       /**< a change may be of rows that its query sees */
    DATABASE_WHYS
} database_why_t;

/** Count a read of a page. Any thread. */
void database_board_count_ring(const database_log_t *feed);
void database_board_count_sql(const database_log_t *feed, database_why_t why);

/** What status shows. */
typedef struct database_figures_t {
    apr_uint64_t from_ring;
    apr_uint64_t by_sql[DATABASE_WHYS];
} database_figures_t;

void database_board_figures(const database_log_t *feed, database_figures_t *figures);
#endif
