/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file database.h
 * What the files of the database feed share: the feed as configured. The database itself is feeds/sql's.
 *
 * feed.c        descriptor and parameters
 * methods.c     what a page or an application may ask
 * arguments.c   the arguments of a call, checked
 * tables.c      which tables a call may name
 * write.c       save, update, delete
 * instances.c   new rows, a row that changed
 * select.c      rows as they are now
 * look.c        a page finds its position in the changes of a watched table, and what is new since
 * changes.c     the change table, read
 * cells.c       cells that several statements have
 * elements.c    all elements of a collection
 * image.c       rows, as the change table keeps them
 * fold.c        several changes of one row, folded into one
 * interests.c   names of interests, and which a changed row touches
 * dialect*.c    the change table and its triggers: one row per kind of database
 * objects.c     properties and collections of entities
 * queries.c     named queries
 * query_text.c  a query taken to pieces
 * results.c     what pages have seen of queries, kept in the database
 * subscription.c  positions that outlive pages
 * position*.c  which changes a reader has seen: one kind of set per kind of database
 * numbering_mysql.c   the numbers that those of MariaDB are made of
 * board.c       what children share: who is the tailer, the ring, and who waits for it
 * ring.c        the changes that the tailer has read lately
 * tailer.c      reads each change once: a thread, and when it reads
 * batch.c       what it reads with one statement
 * tail.c        what it does with that: the ring, and whom it tells
 * knock.c       told of writes by the kernel
 * pruning.c     removes what is too old
 * model.c       entities, collections and queries, from a file
 */
#ifndef DATABASE_H
#define DATABASE_H

#include "sql.h"

#include "model.h"

typedef struct database_tailer_t database_tailer_t;
typedef struct database_board_t database_board_t;

/** A VaultFeed of this kind. `sql` is its first field: a sql_call_t's `db` is the feed, too. */
typedef struct database_t {
    sql_database_t sql;               /* const after open */
    const database_model_t *model;    /* const after open: NULL: none */
    const apr_array_header_t *tables; /* const after open: those that calls may name; NULL: all */
    int look;                         /* const after open: milliseconds between two looks of the tailer; 0: there is none */
    int ring;                         /* const after open: its size in kilobytes */
    int keep;                         /* const after open: seconds that changes are kept */
    int keep_positions; /* const after open: seconds that the position of a user who does not come is kept */
    int changes;                      /* const after open: how many are kept at most */
    int board_fd;                     /* const after open: the board's memory, and its lock */
    int poke;                         /* const after open: an eventfd that wakes the tailer */
    database_board_t *board;          /* const after open: shared by children */
    const char *journal;         /* const after open: the file that every commit writes to; NULL: nobody knows one */
    database_tailer_t *tailer;   /* const after child_start */
} database_t;

#endif
