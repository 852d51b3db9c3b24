/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file joined.h
 * What this server has written lately (recent.h), where places are sets: of transactions (PostgreSQL), or of changes (MariaDB).
 *
 * A place on PostgreSQL is the set of transactions that a reader has seen. Ids have gaps, and nobody can tell without asking what other
 * programs have committed. But a writer knows what its own transaction has recorded, and which transactions that has seen. So a
 * look may have one transaction more than its place has, without the database, if it has seen all that this transaction saw: that is
 * what the database held when the transaction had done its work, and its own work. Transactions that were in progress then stay
 * unseen, and are found later.
 *
 * A writer that has committed, and not yet announced it, leaves a copy in the next of the board's places, which are taken in turn, if its
 * transaction has recorded that one change only, in all watched tables, and nothing can have come to it in the commit. Else, and
 * whenever the watcher announces what it has found itself, an *end* is there: no look from a place that does not have all
 * before the end goes without the database. A look takes all copies that are not in its place. If it cannot have one of them,
 * or there is none, it asks the database.
 *
 * This loses nothing, and shows nothing twice:
 *
 *   - what a place has, and what a look takes, is told by the transaction's number alone, or the change's;
 *   - what is announced was left before, or an end was. So what a look does not find is announced to its page later;
 *   - a writer that dies before it leaves a copy has left no marks either (board.h): the watcher finds what it wrote. Whoever has seen
 *     that transaction is seen by no look until then;
 *   - a look goes back until its place has all that was left before. One that comes to a copy which is half written, overwritten, or
 *     of another life before that asks the database;
 *   - a copy tells which columns its table had: they were compared in the transaction, which kept them from being altered until it
 *     was committed. A page whose connection knows other columns asks the database.
 *
 * PostgreSQL (joins_snapshots.c). The end is a number that is raised. `top` of a copy is no less than each transaction that was left
 * before: a look that has all up to there need not go back further.
 *
 * MariaDB (joins_lists.c). A place is the set of changes that a reader has seen: all up to a number, and ids of some that have none yet.
 *
 *   - A writer reads its place with what it has recorded, in one statement. Transactions that write there are READ COMMITTED, where each
 *     statement has a read view of its own, so this one begins after the writes, and has all that they were built upon: whose rows they
 *     changed, or whose keys they had to wait for, had committed before. A change gets its id when its row is locked already: of changes of one row the
 *     later one has the larger id, however ids of others are mixed. Nothing comes to a transaction in its commit, as nothing can be deferred.
 *   - Which changes of its place are its own it does not know. But each that another transaction has committed is *known* here once it
 *     was left, or has an end: by its writer, or by the watcher who found it. If one only is not known, that is all the transaction can have
 *     recorded: it is left. (Should it be somebody else's, since this one has recorded nothing, the copy is as true: it was committed, and the
 *     place has all that it saw.) If there are more, they may be of several transactions, or triggers of users have written more: they
 *     get an end, all together. So they do if none is: the watcher was quicker, or ids come again.
 *   - An end is a copy without a change: whoever goes by it must have all that its place has. The watcher leaves one for each look
 *     that has found what nobody has announced, before that is known, and before it announces it; and one when a life begins.
 *   - Changes get numbers later, in one transaction with the last number given, so that no place sees a part of that. A change without a number
 *     in one place has a larger one than that place's, ever. So two places can be compared as soon as it is known which changes have the numbers between
 *     theirs: the watcher leaves that, when it has given them (listed.h). What it does not know it asks the database: numbers given
 *     by another server on the same database, by a page's look, or of another life.
 *   - All copies that were left before the watcher began to read which changes have no number have one when it is done. It says so
 *     with the last number: a look from there on need not go back further.
 *   - A place comes in parts: of the row that has the last number given, and of each change without one, read in one statement, as is the watching. So
 *     it is what one read view has, whoever gives numbers meanwhile. A writer's own are among its parts; it looks at those only that come
 *     after all that the watcher's place lists (database_dialect_t::floor_of), and one that has taken longer than another finds nothing.
 *   - Who watches gives numbers when all that its place has is announced, and then asks again where the database is. What was committed in
 *     between has a number, too, which is known here: it is told from what was announced as without one. If any of it is not, all
 *     tables are read.
 *   - What is pruned was numbered long before, and is of no matter: a place has it or not, as ever. A look from a place in the database says what is
 *     lost; one that has all that was announced loses nothing.
 *   - A rolled back transaction's id is never seen. Ids that come again, after a restore or a crash, are of another era, as all that is left.
 */
#ifndef DATABASE_JOINED_H
#define DATABASE_JOINED_H

#include "look.h"
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

/** Numbers that are given to changes, by who watches, where places are lists. */
typedef struct database_numbering_t {
    apr_uint64_t life;
    apr_uint64_t copies; /**< up to this one they are of changes that get a number now, or had one */
} database_numbering_t;

/** Before it reads which changes have none. */
void database_joined_number(const database_t *feed, database_numbering_t *numbering);
/** When it has committed that those have the next numbers after `last`.
 * @param ids  with commas between
 * @param all  there were no others */
void database_joined_numbered(const database_t *feed, const database_numbering_t *numbering, apr_int64_t last,
                              const char *ids, int all);

/** Call `visit` for each change that the place `now` has and the older one has not, until that returns 0. Where places are lists.
 * @return 1: for all of them; 0: it returned 0, or nobody knows which they are */
int database_joined_each_new(const database_t *feed, apr_uint64_t life, const char *place, const char *now,
                             int (*visit)(void *data, apr_int64_t id), void *data);

/** As database_recent_look. */
int database_joined_look(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted, const char *place,
                         const char *epoch);

#endif
