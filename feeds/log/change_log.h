/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file change_log.h
 * The log of the changes that triggers have recorded in a database, as a feed uses it: what the files of this folder
 * and the feeds share. It is linked into each feed that is notified of what other programs write.
 *
 *    position*.c        which changes a reader has seen: one kind of set for each kind of database
 *    dialect*.c         the change table and its triggers: one row for each kind of database
 *    numbering_mysql.c  the numbers that positions of MariaDB are made of
 *    shared.c           what the children share: who is the tailer, the ring, and which writers wait
 *    ring.c             the changes that the tailer has read last
 *    tailer.c           the thread that reads each change once, and when it reads
 *    batch.c            what it reads with one statement
 *    tail.c             what it does with a batch: append to the ring, publish, notify
 *    touched.c          interests that are notified together
 *    file_notify.c      wake-up by the kernel when a file is written
 *    pruning.c          removes what is too old
 *    image.c            rows, as the change table stores them
 *    digest.c           SHA-1 of a text
 *    figures.c          what the status shows of the log
 *
 * All feeds on one database have the same change table, and each server has a tailer for each of its feeds. The log of
 * the messages feed contains the tables whose names begin with LOG_OWN_TABLES. The log of the database feed contains
 * all others.
 */
#ifndef CHANGE_LOG_H
#define CHANGE_LOG_H

#include "sql/sql.h"

/** The names of the tables of mod_vault's feeds begin with this: recorded changes, which contain rows of all watched
 * tables, and the messages of all users. */
#define LOG_OWN_TABLES "vault_"

/** The smallest ring, in kilobytes. */
#define LOG_RING_LEAST 64

/** Rows of vault_feed_t::params for log_parameter_poll(). */
#define LOG_PARAM_POLL(unless)                                                                                         \
    {"poll", "200", "milliseconds between two polls for changes by other programs, 10 to 60000" unless, 0},            \
    {                                                                                                                  \
        "look", "", "the old name of poll", 0                                                                          \
    }

typedef struct log_tailer_t log_tailer_t;
typedef struct log_shared_t log_shared_t;
typedef struct log_touched_t log_touched_t;

/** The log of one VaultFeed. `sql` is its first field, so the `db` of a sql_call_t points to the log too. */
typedef struct change_log_t {
    sql_database_t sql; /* const after open */
    int poll;           /* const after open: milliseconds between two polls of the tailer; 0: there is no tailer */
    int ring;           /* const after open: its size in kilobytes */
    int keep;           /* const after open: seconds that changes are kept */
    int keep_positions; /* const after open: seconds that the position of an absent user is kept */
    int changes;        /* const after open: the most changes that are kept */
    int is_own;         /* const after open: the log has the tables of LOG_OWN_TABLES, otherwise all others */
    /** const after open: the tailer calls it for each change that it has read: add the interests that the change
     * touches.
     * @param c       with a connection, of the tailer's thread
     * @param change  "op", "key", "old" and "new"; NULL: it is unknown what was changed in the table
     * @return APR_SUCCESS; other: the change will be read again */
    apr_status_t (*touch)(sql_call_t *c, log_touched_t *touched, const char *table, const json_t *change);
    int shared_fd;        /* const after open: the file of the shared memory, which is also locked */
    int poke;             /* const after open: an eventfd that wakes the tailer */
    log_shared_t *shared; /* const after open: shared by children */
    const char *journal;  /* const after open: the file that every commit writes to; NULL: there is none */
    log_tailer_t *tailer; /* const after child_start */
} change_log_t;

/** Read `poll`, or its old name, from the parameters. @param may_be_off  0 is accepted too
 * @return NULL, or a sentence for the administrator */
const char *log_parameter_poll(change_log_t *log, const apr_table_t *given, int may_be_off, apr_pool_t *pool);

#endif
