/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file shared.h
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
#ifndef LOG_SHARED_H
#define LOG_SHARED_H

#include "log/change_log.h"
#include "log/ring.h"

/** In the parent: make the shared, or find it again after a restart.
 * @param touches  another text whenever change_log_t::touch does something else: the tailer of the generation before,
 *                 still there for a while, touches what it did
 * @return NULL, or a sentence */
const char *log_shared_open(change_log_t *feed, const apr_table_t *given, const char *touches, apr_pool_t *pconf);

/** Become the tailer of all children, if no process is. Any thread, but one of each process at a time.
 * @return 1: this process is, until log_shared_unlock, or until it ends, however it ends */
int log_shared_lock(const change_log_t *feed);
void log_shared_unlock(const change_log_t *feed);
/** When log_shared_lock has failed. @return a descriptor, to be closed, that is readable when the process ends that
 * is the tailer; -1: there is none (not known yet, or Linux before 5.3) */
int log_shared_await(const change_log_t *feed);
/** The process that is the tailer; 0: none is, also when it was killed. Any thread. */
pid_t log_shared_tailer(const change_log_t *feed);

/** Is the ring of this incarnation of the database (log_dialect_t::incarnation)? By the tailer.
 * @param incarnation  NULL: there is none, and it is */
int log_shared_is_of(const change_log_t *feed, const char *incarnation);
void log_shared_keep_incarnation(const change_log_t *feed, const char *incarnation);

log_ring_t *log_shared_ring(const change_log_t *feed);
/** The boot of the ring (ring.h); 0: it has none yet. Any thread. */
apr_uint64_t log_shared_boot(const change_log_t *feed);

/* ------------------------------------------------------------ tickets */

/** A writer waits for a tailer no longer than this, in milliseconds. */
#define LOG_WRITER_WAIT 100

/** Poke the tailer and wait until it has told of all that was committed before, or LOG_WRITER_WAIT. Any thread.
 * @return 1: pages were told; 0: they will be later, since no tailer can read now, or it takes longer */
int log_shared_ask(const change_log_t *feed);

/** By the tailer, before it reads: the last ticket. Forgets that it was poked. */
apr_uint32_t log_shared_take(const change_log_t *feed);
/** By the tailer, after it has notified. */
void log_shared_serve(const change_log_t *feed, apr_uint32_t ticket);
/** How the last read of a tailer has ended. */
typedef enum log_reading_t {
    LOG_READING_NOT,         /**< there was none yet, or the tailer has left off */
    LOG_READING_UNREACHABLE, /**< the database could not be asked */
    LOG_READING_UNWATCHED,   /**< it has no watched table */
    LOG_READING_DONE,        /**< all changes were read */
} log_reading_t;

/** By the tailer. Writers wait for one that can read. */
void log_shared_set_reading(const change_log_t *feed, log_reading_t reading);
log_reading_t log_shared_reading(const change_log_t *feed);

/* ------------------------------------------------------------ figures */

/** Why a page has asked the database. */
typedef enum log_why_e {
    LOG_WHY_FIRST,       /**< it had no cursor: a first view */
    LOG_WHY_UNWATCHED,   /**< the table is not watched */
    LOG_WHY_NOT_IN_RING, /**< its cursor has no offset in a ring */
    LOG_WHY_BOOT,        /**< its cursor is of another boot of the ring */
    LOG_WHY_OVERWRITTEN, /**< what it needs was overwritten */
    LOG_WHY_TOO_LARGE,   /**< a change was too large for the ring, or of other columns than the page knows */
    LOG_WHY_LINKS,       /**< elements are found through links, and a link or an element has changed */
    LOG_WHY_TOO_MANY,    /**< there were more changes than an answer may have */
    LOG_WHY_QUERY,       /**< a change may be of rows that its query sees */
    LOG_WHYS
} log_why_t;

/** Count a read of a page. Any thread. */
void log_shared_count_ring(const change_log_t *feed);
void log_shared_count_sql(const change_log_t *feed, log_why_t why);

/** What status shows. */
typedef struct log_figures_t {
    apr_uint64_t from_ring;
    apr_uint64_t by_sql[LOG_WHYS];
} log_figures_t;

void log_shared_figures(const change_log_t *feed, log_figures_t *figures);
#endif
