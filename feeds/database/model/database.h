/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file database.h
 * What the files of the database feed share: the feed as configured. The database itself is feeds/sql's, the log of
 * its changes feeds/log's.
 *
 * Each folder includes only those above it (mod_vault/layers.txt):
 *
 * model/    what is configured: the model of entities and queries, their properties, the tables that calls may name
 *   model.c             entities, collections and queries, from a file
 *   properties.c        columns as properties show them
 *   query_text.c        a query split into tokens
 *   tables.c            which tables a call may name
 * rows/     rows, and how a call names them
 *   arguments.c         the arguments of a call, checked
 *   keys.c              keys of one column or several, as text
 *   select.c            rows as they are now
 *   filter.c            conditions, as SQL and for rows that are here already
 *   fold.c, delta.c     several changes of one row folded into one; the answer that is made of them
 *   interests.c         names of interests, and which a changed row touches
 * changes/  what has changed since a page's position
 *   change_read.c       a page's read: where it is, and what is new since
 *   change_read_ring.c  that from the ring, without SQL
 *   changes.c, cells.c  that from the change table
 *   elements.c          all elements of a collection, with the position, in one statement
 *   watching.c          how a table is watched, without a page
 *   subscription.c      positions that outlive pages
 * query/    named queries: queries.c answers a page
 *   query_sql.c         the statement that runs one
 *   query_conditions.c  what a simple one demands of its tables
 *   query_ring.c        can changes have changed its result?
 *   reads.c             which tables it reads; reads_*.c: as each kind of database tells it
 *   names_mysql.c       which tables a query of MariaDB names
 *   results.c           what pages have seen of queries, kept in the database
 * live/     live answers
 *   instances.c         new rows, a row, a column
 *   objects.c, links.c  properties and collections of entities; collections through a table of links
 *   filter_changes.c    the rows of a filter
 * api/      what is called from outside
 *   feed.c              descriptor and parameters
 *   methods.c           what a page or an application may ask
 *   write.c             save, update, delete
 *   report.c            what the status shows of the feed
 */
#ifndef DATABASE_H
#define DATABASE_H

#include "database/model/model.h"
#include "log/change_log.h"

typedef struct database_known_reads_t database_known_reads_t;

/** A VaultFeed of this kind. `log` is its first field, so the `db` of a sql_call_t points to the feed too. */
typedef struct database_t {
    change_log_t log;                 /* const after open */
    const database_model_t *model;    /* const after open: NULL: none */
    const apr_array_header_t *tables; /* const after open: the tables that calls may name; NULL: all */
    database_known_reads_t *reads;    /* const after child_start: the tables that queries read */
} database_t;

#endif
