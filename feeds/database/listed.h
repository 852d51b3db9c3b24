/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file listed.h
 * Which changes of MariaDB somebody has seen: all up to a number, and some without one. What a place of MariaDB says, apart from the
 * database.
 *
 * Two such sets can be compared only up to the same number. What is between two numbers is known as long as whoever gave the numbers has
 * left here which change got which: numbers have no gaps.
 */
#ifndef DATABASE_LISTED_H
#define DATABASE_LISTED_H

#include <stdatomic.h>

#include "apr_pools.h"

/** Changes without a number. With more of them the database has to be asked. */
#define DATABASE_LISTED_MAX 256
/** Numbers that are kept. */
#define DATABASE_NUMBERED 2048

typedef struct database_listed_t {
    apr_int64_t last; /**< all up to this number */
    int count;
    apr_int64_t ids[DATABASE_LISTED_MAX]; /**< in their order */
} database_listed_t;

/** A number that was given: one that is half written, overwritten, or of another life is none. */
typedef struct database_number_t {
    _Atomic apr_uint64_t check;  /* atomic */
    _Atomic apr_int64_t id;      /* atomic */
    _Atomic apr_uint64_t copies; /* atomic: all copies up to this one have a number that is no larger; 0: nobody knows */
} database_number_t;

/** A part of the board. */
typedef database_number_t database_numbers_t[DATABASE_NUMBERED];

/** Those of one life. */
typedef struct database_numbered_t {
    database_number_t *numbers;
    apr_uint64_t life;
} database_numbered_t;

/** Leave that `id` has got `number`. @param copies  as above */
void database_numbered_leave(const database_numbered_t *numbered, apr_int64_t number, apr_int64_t id,
                             apr_uint64_t copies);

/** Which change has that number. @param copies  may be NULL. @return 0: nobody knows */
apr_int64_t database_numbered_find(const database_numbered_t *numbered, apr_int64_t number, apr_uint64_t *copies);

/** Read `NUMBER;ID,ID,…`, in any order, some perhaps twice. @return 0: it is none, or has too many ids */
int database_listed_read(database_listed_t *s, const char *text);

/** Is it among those without a number? */
int database_listed_lists(const database_listed_t *s, apr_int64_t id);

/** Has a change been seen that had no number yet as long as `then` was the last one?
 * @return 1; 0: it has not; -1: nobody knows */
int database_listed_has(const database_listed_t *s, apr_int64_t id, apr_int64_t then, const database_numbered_t *numbered);

/** Has it seen all that `saw` has, but `id`? @return 0: it has not, or nobody knows */
int database_listed_follows(const database_listed_t *s, const database_listed_t *saw, apr_int64_t id,
                            const database_numbered_t *numbered);

/** See `id`, too, which has no number that is as small as s->last. @return 0: there is no room */
int database_listed_add(database_listed_t *s, apr_int64_t id);

/** The same set, with as few ids as can be. */
void database_listed_shorten(database_listed_t *s, const database_numbered_t *numbered);

/** Call `visit` for each change of `now` that `s` has not, until that returns 0.
 * @return 1: for all of them; 0: it returned 0, or nobody knows which they are */
int database_listed_each_new(const database_listed_t *s, const database_listed_t *now,
                             const database_numbered_t *numbered, int (*visit)(void *data, apr_int64_t id), void *data);

/** As a place. NULL: it would be too long. */
const char *database_listed_text(const database_listed_t *s, apr_size_t most, apr_pool_t *pool);

#endif
