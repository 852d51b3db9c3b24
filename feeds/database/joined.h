/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file joined.h
 * What this server has written lately (recent.h), where places are snapshots: PostgreSQL.
 *
 * A place there is the set of transactions that a reader has seen. Ids have gaps, and nobody can tell without asking what other
 * programs have committed. But a writer knows what its own transaction has recorded, and which transactions that has seen. So a
 * look may have one transaction more than its place has, without the database, if it has seen all that this transaction saw: that is
 * what the database held when the transaction had done its work, and its own work. Transactions that were in progress then stay
 * unseen, and are found later.
 *
 * A writer that has committed, and not yet announced it, leaves a copy in the next of the board's places, which are taken in turn, if its
 * transaction has recorded that one change only, in all watched tables, and nothing can have come to it in the commit. Else, and
 * whenever the watcher announces what it has found itself, the *end* is raised: no look from a place that does not have all
 * before the end goes without the database. A look takes all copies that are not in its place. If it cannot have one of them,
 * or there is none, it asks the database.
 *
 * This loses nothing, and shows nothing twice:
 *
 *   - what a place has, and what a look takes, is told by the transaction's number alone;
 *   - what is announced was left before, or the end was raised. So what a look does not find is announced to its page later;
 *   - a writer that dies before it leaves a copy has left no marks either (board.h): the watcher finds what it wrote. Whoever has seen
 *     that transaction is seen by no look until then;
 *   - `top` of a copy is no less than each transaction that was left before: a look that has all up to there need not go back further.
 *     One that comes to a copy which is half written, overwritten, or of another life before that asks the database;
 *   - a copy tells which columns its table had: they were compared in the transaction, which kept them from being altered until it
 *     was committed. A page whose connection knows other columns asks the database.
 */
#ifndef DATABASE_JOINED_H
#define DATABASE_JOINED_H

#include "changes.h"
#include "recent.h"

/** The life in this era. Never 0. */
apr_uint64_t database_joined_life(database_era_t era);

/** By who watches, before it announces what a snapshot has.
 * @param life     of that snapshot
 * @param now      its place
 * @param strange  it has something that no writer has announced */
void database_joined_begin(const database_t *feed, apr_uint64_t life, const char *now, int strange);

/** Leave what a transaction that was committed has recorded of its table; before it is announced. Any thread of any child.
 * @return 0: the board is of another life; nothing was left */
int database_joined_leave(const database_t *feed, apr_uint64_t life, database_packed_t *packed, int count);

/** As database_recent_look. */
int database_joined_look(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted, const char *place,
                         const char *epoch);

#endif
