/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file joins.h
 * Places that are sets, of either kind, as looks without the database need them (joined.h): a set of transactions (snapshot.h), or of changes
 * (listed.h).
 */
#ifndef DATABASE_JOINS_H
#define DATABASE_JOINS_H

#include "copies.h"
#include "listed.h"
#include "recent.h"
#include "snapshot.h"

/** Of a place that a look makes, in bytes. */
#define DATABASE_JOINS_PLACE_MAX 1000

/** What somebody has seen. */
typedef struct database_seen_t {
    const database_recent_t *recent; /**< the board's */
    apr_uint64_t life;
    apr_uint64_t first; /**< copies up to this one have been seen, or are of another life */
    union {
        database_snapshot_t snapshot;
        database_listed_t listed;
    } set;
} database_seen_t;

typedef struct database_joins_t {
    /** `recent`, `life` and `first` are set; may raise the last. @return 0: the database has to be asked from that place on */
    int (*read)(database_seen_t *seen, const char *place);
    /** Of copies from the last one back: can neither this nor an earlier one be new? NULL: `first` says it. */
    int (*is_behind)(const database_seen_t *seen, const database_head_t *head);
    /** Has it been seen? @return 1; 0: it has not; -1: nobody knows */
    int (*has)(const database_seen_t *seen, const database_head_t *head);
    /** See `number`, too, if `seen` has all that `saw` has. @return 0: it has not, or nobody knows */
    int (*join)(database_seen_t *seen, const char *saw, apr_int64_t number);
    /** As a place. NULL: it would be too long. */
    const char *(*text)(const database_seen_t *seen, apr_pool_t *pool);
    /** A life begins, at the place `now`. */
    void (*begin)(database_recent_t *recent, apr_uint64_t life, const char *now);
    /** As database_joined_begin, in a life that has begun. */
    void (*found)(database_recent_t *recent, apr_uint64_t life, const char *now, int strange);
    /** As database_joined_leave, in that life. */
    void (*leave)(database_recent_t *recent, apr_uint64_t life, database_packed_t *packed, int count);
} database_joins_t;

extern const database_joins_t database_joins_lists;
extern const database_joins_t database_joins_snapshots;

/** Leave a copy. @param number  ++recent->last; @param top  as database_copy_leave */
void database_joins_leave(database_recent_t *recent, apr_uint64_t life, apr_uint64_t number, database_packed_t *packed,
                          apr_int64_t top);

#endif
