/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file copies.h
 * Copies of changes in memory that children share: how they are made, left, and found again (recent.h, joined.h).
 *
 * A copy is left under a number, with a checksum: one that is half written, was overwritten, or is of something else is none. Its head has one of
 * its own: most copies that a look comes to it has seen already.
 */
#ifndef DATABASE_COPIES_H
#define DATABASE_COPIES_H

#include <stdatomic.h>

#include <jansson.h>

#include "dialect.h"

/** Of one copy, in words: larger ones are read in the database. */
#define DATABASE_COPY_WORDS 128

typedef _Atomic apr_uint64_t database_copy_t[DATABASE_COPY_WORDS]; /* atomic, each; checksums are first */

/** A change as it will be left. */
typedef struct database_packed_t {
    apr_int64_t id;
    apr_int64_t xid; /**< the transaction of PostgreSQL; of MariaDB the change; 0: of another database */
    int is_alone;    /**< it has recorded nothing else; where places are lists: as far as its columns tell */
    const char *saw; /**< what the transaction has seen, with itself; in its pool */
    apr_uint64_t words[DATABASE_COPY_WORDS];
    int count; /**< of words; 0: it is too large */
} database_packed_t;

/** The texts of a copy. The last three begin with what they are: as a key or a row may be NULL. */
enum {
    DATABASE_COPY_TABLE,
    DATABASE_COPY_EPOCH,
    DATABASE_COPY_OP,
    DATABASE_COPY_SAW,
    DATABASE_COPY_KEY,
    DATABASE_COPY_OLD,
    DATABASE_COPY_NEW,
    DATABASE_COPY_TEXTS
};

/** What a copy is of. */
typedef struct database_head_t {
    apr_int64_t id, xid;
    apr_int64_t
        top; /**< where they are joined: the largest transaction that was left up to this one; where places are lists: the last number
                         * that was given before it was left */
    apr_uint64_t shape; /**< likewise, of the table */
} database_head_t;

/** A copy as it was left. */
typedef struct database_found_t {
    database_head_t head;
    apr_uint64_t words[DATABASE_COPY_WORDS];
    const char *texts[DATABASE_COPY_TEXTS]; /**< in `words` */
} database_found_t;

/** A part of a checksum. */
static inline apr_uint64_t database_copy_mix(apr_uint64_t sum, apr_uint64_t value)
{
    sum = (sum ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ sum >> 29;
}
/** Of its sql_table_t::shape or definition, and names of columns; 0: it has none. */
apr_uint64_t database_copy_shape(const sql_table_t *table);

/** Make a copy ready. @param change  of database_changes_own, its images not yet decoded. `saw` is of it */
void database_copy_pack(database_packed_t *packed, const sql_table_t *table, const json_t *change);
/** Likewise of no change: with the number 0, of no table. @param saw  "" if it is too long */
void database_copy_pack_end(database_packed_t *packed, const char *saw);

/** Leave it there, as number `number` of this life. Any thread of any child. @param top  as above */
void database_copy_leave(database_copy_t copy, apr_uint64_t life, apr_int64_t number, database_packed_t *packed,
                         apr_int64_t top);

/** Find of what number `number` of this life is. @return 0: it is not there */
int database_copy_peek(const database_copy_t copy, apr_uint64_t life, apr_int64_t number, database_head_t *head);
/** Find it whole. @return 0: likewise */
int database_copy_find(const database_copy_t copy, apr_uint64_t life, apr_int64_t number, database_found_t *found);

/** As database_look_t::changes has it. @return NULL: its images cannot be read */
json_t *database_copy_change(const database_found_t *found);

/** What an image must have one of; none: nobody knows. */
typedef struct database_sieve_t {
    const char *images[2];
    int count;
} database_sieve_t;

void database_sieve_make(database_sieve_t *sieve, const sql_call_t *c, const sql_column_t *column, const char *value);
int database_sieve_passes(const database_sieve_t *sieve, const database_found_t *found);

#endif
