/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file fold.h
 * Folds several changes of one row into one: what the row was before the first and after the last. It uses no database.
 */
#ifndef DATABASE_FOLD_H
#define DATABASE_FOLD_H

#include <jansson.h>

#include "apr_pools.h"
#include "apr_tables.h"

#include "database/rows/keys.h"

/** One row between two reads. */
typedef struct database_fold_t {
    const char *key;   /**< as text, borrowed from the changes */
    const json_t *old; /**< borrowed; NULL: it did not exist */
    const json_t *new; /**< borrowed; NULL: it does not exist any more */
} database_fold_t;

/** Fold changes (database_change_read_t::changes), oldest first. Rows that are the same as before are left out, and so
 * are those that were inserted and deleted again.
 * @return of database_fold_t, in the order in which the rows first changed */
apr_array_header_t *database_fold(const json_t *changes, apr_pool_t *pool);

/** The same for the elements of a collection: the rows that have this key in its columns; NULL: all rows. A row that
 * became an element has no `old`, and one that is no element any more has no `new`. */
apr_array_header_t *database_fold_members(const json_t *changes, const database_key_t *members, apr_pool_t *pool);

#endif
