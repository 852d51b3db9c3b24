/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file snapshot.h
 * Which transactions of PostgreSQL somebody has seen: all before an end, but some. What a place of PostgreSQL says, apart from the
 * database.
 */
#ifndef DATABASE_SNAPSHOT_H
#define DATABASE_SNAPSHOT_H

#include "apr_pools.h"

/** Transactions that may be missing before the end. With more of them the database has to be asked. */
#define DATABASE_SNAPSHOT_MAX 200

typedef struct database_snapshot_t {
    apr_int64_t end;
    int count; /**< of those missing */
    apr_int64_t missing[DATABASE_SNAPSHOT_MAX];
} database_snapshot_t;

/** Read `XMIN:XMAX:` and a list: of distances as a place has it, or of transactions as PostgreSQL tells it. With
 * `/LAST` after it (places_pgsql.h) the set ends there.
 * @return 0: it is none, or has too many transactions in progress */
int database_snapshot_read(database_snapshot_t *s, const char *text);

/** Has this transaction been seen? */
int database_snapshot_has(const database_snapshot_t *s, apr_int64_t xid);

/** See the transaction `xid`, too, if `s` has seen all that it saw itself when it did its work.
 * @return 0: it has not, or too many would be missing; then s is of no use any more */
int database_snapshot_join(database_snapshot_t *s, const database_snapshot_t *saw, apr_int64_t xid);

/** Has it seen all that `xid` saw? */
int database_snapshot_follows(const database_snapshot_t *s, const database_snapshot_t *saw, apr_int64_t xid);

/** As a place. NULL: it would be too long. */
const char *database_snapshot_text(const database_snapshot_t *s, apr_size_t most, apr_pool_t *pool);

#endif
