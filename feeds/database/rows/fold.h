/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file fold.h
 * Several changes of one row, folded into one: what it was before the first, what it is after the last. No database
 * here.
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
    const json_t *old; /**< borrowed; NULL: it was not there */
    const json_t *new; /**< borrowed; NULL: it is there no more */
} database_fold_t;

/** Fold changes (database_change_read_t::changes), oldest first.
 * Rows that are as they were, and those that came and went, are left out.
 * @return of database_fold_t, in the order in which the rows first changed */
apr_array_header_t *database_fold(const json_t *changes, apr_pool_t *pool);

/** As database_fold, for the elements of a collection: the rows that have this key in its columns; NULL: all rows.
 * A row that moved in has no `old`, one that moved out no `new`. */
apr_array_header_t *database_fold_members(const json_t *changes, const database_key_t *members, apr_pool_t *pool);

#endif
