/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file shared.h
 * What the children of one VaultFeed share about its watched tables: which of them is the tailer, the ring of changes
 * that it has read, and how writers of this server wait for it.
 *
 * The memory belongs to the parent and is inherited by the children. It is kept over graceful restarts as long as the
 * parameters of the feed, and the interests that it touches, are the same.
 *
 * A writer commits, takes a *ticket* and wakes the tailer. The tailer reads the number of the last ticket before it
 * reads the database. It serves all tickets up to this number when it has appended what it read to the ring and has
 * notified. So a writer whose ticket was served knows that all pages were notified of its change.
 */
#ifndef LOG_SHARED_H
#define LOG_SHARED_H

#include "log/change_log.h"
#include "log/ring.h"

/** In the parent: create the shared memory, or find it again after a restart.
 * @param touches  differs whenever change_log_t::touch does something else: the tailer of the previous generation,
 *         which
 *         runs on for a while, touches what it used to
 * @return NULL, or a sentence for the administrator */
const char *log_shared_open(change_log_t *feed, const apr_table_t *given, const char *touches, apr_pool_t *pconf);

/** Become the tailer of all children, unless another process is. Any thread, but one of each process at a time.
 * @return 1: this process is the tailer, until log_shared_unlock() or until it ends, in whatever way */
int log_shared_lock(const change_log_t *feed);
void log_shared_unlock(const change_log_t *feed);
/** If log_shared_lock() has failed: get a descriptor that becomes readable when the process of the tailer ends. The
 * caller closes it. @return -1: there is none (the tailer is not known yet, or Linux is older than 5.3) */
int log_shared_await(const change_log_t *feed);
/** The process that is the tailer; 0: none, also if it was killed. Any thread. */
pid_t log_shared_tailer(const change_log_t *feed);

/** Does the ring belong to this incarnation of the database (log_dialect_t::incarnation)? The tailer calls it.
 * @param incarnation  NULL: the database does not report it; the result is 1 */
int log_shared_is_of(const change_log_t *feed, const char *incarnation);
void log_shared_keep_incarnation(const change_log_t *feed, const char *incarnation);

log_ring_t *log_shared_ring(const change_log_t *feed);
/** The boot of the ring (ring.h); 0: it has none yet. Any thread. */
apr_uint64_t log_shared_boot(const change_log_t *feed);

/* ------------------------------------------------------------ tickets */

/** The longest time that a writer waits for the tailer, in milliseconds. */
#define LOG_WRITER_WAIT 100

/** Wake the tailer, and wait until it has notified of all that was committed before, at most for LOG_WRITER_WAIT. Any
 * thread.
 * @return 1: pages were notified; 0: they will be later, because no tailer can read now, or because it takes longer */
int log_shared_ask(const change_log_t *feed);

/** The tailer calls it before it reads. Clears the wake-up. @return the number of the last ticket */
apr_uint32_t log_shared_take(const change_log_t *feed);
/** The tailer calls it after it has notified. */
void log_shared_serve(const change_log_t *feed, apr_uint32_t ticket);
/** How the last read of a tailer has ended. */
typedef enum log_reading_t {
    LOG_READING_NOT,         /**< there was none yet, or the tailer has stopped */
    LOG_READING_UNREACHABLE, /**< the database could not be reached */
    LOG_READING_UNWATCHED,   /**< the database has no watched table */
    LOG_READING_DONE,        /**< all changes were read */
} log_reading_t;

/** The tailer calls it. Writers wait only for a tailer that can read. */
void log_shared_set_reading(const change_log_t *feed, log_reading_t reading);
log_reading_t log_shared_reading(const change_log_t *feed);

/* ------------------------------------------------------------ figures */

/** Why a page queried the database. */
typedef enum log_why_e {
    LOG_WHY_FIRST,       /**< it had no cursor: a first view */
    LOG_WHY_UNWATCHED,   /**< the table is not watched */
    LOG_WHY_NOT_IN_RING, /**< its cursor has no offset in a ring */
    LOG_WHY_BOOT,        /**< its cursor is of another boot of the ring */
    LOG_WHY_OVERWRITTEN, /**< changes that it needs were overwritten */
    LOG_WHY_TOO_LARGE,   /**< a change was too large for the ring, or its columns are not those that the page knows */
    LOG_WHY_LINKS,       /**< elements are found through links, and a link or an element has changed */
    LOG_WHY_TOO_MANY,    /**< there were more changes than an answer may have */
    LOG_WHY_QUERY,       /**< a change may concern rows of its query */
    LOG_WHYS
} log_why_t;

/** Count a read of a page from the ring. Any thread. */
void log_shared_count_ring(const change_log_t *feed);
void log_shared_count_sql(const change_log_t *feed, log_why_t why);

/** What the status shows. */
typedef struct log_figures_t {
    apr_uint64_t from_ring;
    apr_uint64_t by_sql[LOG_WHYS];
} log_figures_t;

void log_shared_figures(const change_log_t *feed, log_figures_t *figures);
#endif
