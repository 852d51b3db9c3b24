/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file change_log.h
 * The log of the changes that triggers have recorded in a database, as a feed has it: what the files of this folder and
 * the feeds share. It is linked into each feed that is told of what other programs write.
 *
 * position*.c        which changes a reader has seen: one kind of set per kind of database
 * dialect*.c         the change table and its triggers: one row per kind of database
 * numbering_mysql.c  the numbers that positions of MariaDB are made of
 * shared.c           what children share: who is the tailer, the ring, and who waits for it
 * ring.c             the changes that the tailer has read last
 * tailer.c           the thread that reads each change once, and when it reads
 * batch.c            what it reads with one statement
 * tail.c             what it does with that: append to the ring, publish, notify
 * touched.c          interests that are notified together
 * file_notify.c      wake-up by the kernel when a file is written
 * pruning.c          removes what is too old
 * image.c            rows, as the change table keeps them
 * digest.c           SHA-1 of a text
 * figures.c          what the status shows of the log
 *
 * All feeds on one database have one change table, and each server has a tailer for each of its feeds. The tables whose
 * names begin with LOG_OWN_TABLES are those of the messages feed, whose log has no others; that of the database
 * feed has all but these.
 */
#ifndef CHANGE_LOG_H
#define CHANGE_LOG_H

#include "sql/sql.h"

/** Begins the names of the tables of mod_vault's feeds: the recorded changes, which hold rows of every watched
 * table, and the messages of all users. */
#define LOG_OWN_TABLES "vault_"

/** The smallest ring, in kilobytes. */
#define LOG_RING_LEAST 64

/** Rows of vault_feed_t::params, for log_parameter_poll. */
#define LOG_PARAM_POLL(unless)                                                                                         \
    {"poll", "200", "milliseconds between two polls for what others wrote, 10 to 60000" unless, 0},                    \
    {                                                                                                                  \
        "look", "", "the old name of poll", 0                                                                          \
    }

typedef struct log_tailer_t log_tailer_t;
typedef struct log_shared_t log_shared_t;
typedef struct log_touched_t log_touched_t;

/** The log of one VaultFeed. `sql` is its first field: a sql_call_t's `db` is the log, too. */
typedef struct change_log_t {
    sql_database_t sql; /* const after open */
    int poll;           /* const after open: milliseconds between two polls of the tailer; 0: there is none */
    int ring;           /* const after open: its size in kilobytes */
    int keep;           /* const after open: seconds that changes are kept */
    int keep_positions; /* const after open: seconds that the position of a user who does not come is kept */
    int changes;        /* const after open: how many are kept at most */
    int is_own;         /* const after open: of LOG_OWN_TABLES, and not of all others */
    /** const after open: by the tailer, for each change that it has read: add the interests that it touches.
     * @param c       with a connection, of the tailer's thread
     * @param change  "op", "key", "old" and "new"; NULL: it is not known what was changed in the table
     * @return APR_SUCCESS; other: the change is read again */
    apr_status_t (*touch)(sql_call_t *c, log_touched_t *touched, const char *table, const json_t *change);
    int shared_fd;        /* const after open: the shared memory, and its lock */
    int poke;             /* const after open: an eventfd that wakes the tailer */
    log_shared_t *shared; /* const after open: shared by children */
    const char *journal;  /* const after open: the file that every commit writes to; NULL: there is none */
    log_tailer_t *tailer; /* const after child_start */
} change_log_t;

/** Take `poll`, or its old name, from the parameters. @param may_be_off  0 is accepted, too @return NULL, or a
 * sentence */
const char *log_parameter_poll(change_log_t *log, const apr_table_t *given, int may_be_off, apr_pool_t *pool);

#endif
