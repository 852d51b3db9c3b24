/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file database.h
 * What the files of the database feed share: the feed as configured. The database itself is feeds/sql's, the log of
 * its changes feeds/log's.
 *
 * feed.c        descriptor and parameters
 * methods.c     what a page or an application may ask
 * arguments.c   the arguments of a call, checked
 * tables.c      which tables a call may name
 * write.c       save, update, delete
 * filter.c      conditions, as SQL and for rows that are here already
 * filter_changes.c   the rows of a filter, live
 * instances.c   new rows, a row that changed
 * select.c      rows as they are now
 * change_read.c        a page finds its position in the changes of a watched table, and what is new since
 * changes.c     the change table, read
 * cells.c       cells that several statements have
 * watching.c  how a table is watched, without a page
 * elements.c    all elements of a collection
 * fold.c        several changes of one row, folded into one
 * links.c       collections through a table of links
 * keys.c        keys of one column or several, as text
 * interests.c   names of interests, and which a changed row touches
 * objects.c     properties and collections of entities
 * properties.c  columns as properties show them
 * queries.c     named queries
 * query_text.c  a query taken to pieces
 * query_sql.c   the statement that runs it
 * query_conditions.c  what a simple one demands of its tables
 * query_ring.c  can changes have changed its result
 * reads.c       which tables it reads; reads_*.c: as each kind of database tells it
 * names_mysql.c   by the names in its text
 * results.c     what pages have seen of queries, kept in the database
 * subscription.c  positions that outlive pages
 * report.c      what the status shows of the feed
 * model.c       entities, collections and queries, from a file
 */
#ifndef DATABASE_H
#define DATABASE_H

#include "change_log.h"
#include "model.h"

typedef struct database_known_reads_t database_known_reads_t;

/** A VaultFeed of this kind. `log` is its first field: a sql_call_t's `db` is the feed, too. */
typedef struct database_t {
    change_log_t log;                 /* const after open */
    const database_model_t *model;    /* const after open: NULL: none */
    const apr_array_header_t *tables; /* const after open: those that calls may name; NULL: all */
    database_known_reads_t *reads;    /* const after child_start: what queries read */
} database_t;

#endif
