/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file places_pgsql.h
 * Places in the changes of PostgreSQL. Each function is that of database_dialect_t which has its name.
 *
 * Ids are taken before a transaction commits, in any order, so a place is a snapshot: it says exactly which
 * transactions a reader has seen. A change carries its transaction; new is what the reader's snapshot did not see and the
 * present one does. When a batch was cut, a place is `OLD|NEW|ID`: between the two snapshots, and beyond that id.
 *
 * A crash of PostgreSQL: an id that a transaction took and rolled back, or had not committed yet, may be in no log on
 * disk. After the crash the server gives it to another transaction. A snapshot counts such an id as seen as soon as
 * the transaction has ended. So what the database tells a reader of a table has the largest id of a recorded change
 * that the snapshot sees, `XMIN:XMAX:LIST/LAST`, and the place that is made of it ends there: it claims no id above
 * LAST. LAST was committed, so it is on disk, and PostgreSQL gives neither it nor a smaller id again. Nothing comes
 * twice: the place has each recorded change of the table that the snapshot saw, and lists each transaction below LAST
 * that was in progress.
 *
 * The place of who watches is a whole snapshot: it is forgotten when the database is another incarnation (progress.h).
 *
 * With synchronous_commit=off a commit is seen before it is on disk, so a crash can take LAST itself back. The
 * trigger function leaves a change A, of no table, when a transaction does that. From then on the epoch of each
 * watching ends with the incarnation of the server (database_dialect_t::epoch), and a place from before a crash is of
 * another watching: its page is shown everything anew.
 */
#ifndef DATABASE_PLACES_PGSQL_H
#define DATABASE_PLACES_PGSQL_H

#include "dialect.h"

apr_status_t database_places_pgsql_place(sql_call_t *c, const char *told, const char **now);
int database_places_pgsql_is_lost(sql_call_t *c, const database_span_t *span);
void database_places_pgsql_append_since(sql_statement_t *sql, const char *since);
void database_places_pgsql_append_own(sql_statement_t *sql, apr_int64_t floor);
const char *database_places_pgsql_next(sql_call_t *c, const database_span_t *span, const char *last, int *again);
apr_status_t database_places_pgsql_prune(sql_call_t *c, apr_int64_t before, int most, const char *seen);

#endif
