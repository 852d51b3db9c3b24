/* SPDX-License-Identifier: Apache-2.0 */
/* Folds the changes of each row into one. */
#include "database/rows/fold.h"

#include "apr_hash.h"

static const json_t *row_of(const json_t *change, const char *name)
{
    const json_t *row = json_object_get(change, name);

    return json_is_object(row) ? row : NULL;
}

/* The row if it belongs to the collection, otherwise NULL. */
static const json_t *member(const json_t *row, const database_key_t *members, apr_pool_t *pool)
{
    return row == NULL || members == NULL || database_key_is_in(members, row, pool) ? row : NULL;
}

static int is_change(const database_fold_t *row)
{
    return row->old == NULL || row->new == NULL ? row->old != row->new : !json_equal(row->old, row->new);
}

apr_array_header_t *database_fold_members(const json_t *changes, const database_key_t *members, apr_pool_t *pool)
{
    apr_array_header_t *rows = apr_array_make(pool, 16, sizeof(database_fold_t));
    apr_array_header_t *changed = apr_array_make(pool, 16, sizeof(database_fold_t));
    apr_hash_t *by_key = apr_hash_make(pool);

    for (size_t i = 0; i < json_array_size(changes); i++) {
        const json_t *change = json_array_get(changes, i);
        const char *key = json_string_value(json_object_get(change, "key"));
        apr_size_t index;

        if (key == NULL) {
            continue; /* the table was watched anew, which is no change of a row */
        }
        index = (apr_size_t)(apr_uintptr_t)apr_hash_get(by_key, key, APR_HASH_KEY_STRING);
        if (index == 0) {
            database_fold_t *row = apr_array_push(rows);

            row->key = key;
            row->old = member(row_of(change, "old"), members, pool);
            index = (apr_size_t)rows->nelts;
            apr_hash_set(by_key, key, APR_HASH_KEY_STRING, (void *)(apr_uintptr_t)index);
        }
        APR_ARRAY_IDX(rows, index - 1, database_fold_t).new = member(row_of(change, "new"), members, pool);
    }
    for (int i = 0; i < rows->nelts; i++) {
        if (is_change(&APR_ARRAY_IDX(rows, i, database_fold_t))) {
            APR_ARRAY_PUSH(changed, database_fold_t) = APR_ARRAY_IDX(rows, i, database_fold_t);
        }
    }
    return changed;
}

apr_array_header_t *database_fold(const json_t *changes, apr_pool_t *pool)
{
    return database_fold_members(changes, NULL, pool);
}
