/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file model.h
 * The objects that an application sees in its tables: entities with properties and collections, and named queries.
 *
 * A file in JSON, the parameter `model`, read and checked when httpd starts; names of tables and columns are looked
 * up in the database when they are first used.
 *
 *     {"entities": {
 *        "Profile":  {"table": "profiles", "properties": {"name": "full_name", "status": "status"},
 *                     "collections": {"posts": {"entity": "WallPost", "column": "profile_id"},
 *                                     "groups": {"entity": "Group", "through": {"table": "memberships",
 *                                                "column": "profile_id", "element": "group_id"}}}},
 *        "Group": {"table": "groups", "properties": {"title": "title"}},
 *        "WallPost": {"table": "posts", "properties": {"text": "body"}}},
 *      "queries": {
 *        "bids": {"sql": "SELECT b.id, b.amount FROM bids b WHERE b.item = :item",
 *                 "columns": {"id": "integer", "amount": "real"}, "key": ["id"], "parameters": {"item": "integer"}}}}
 */
#ifndef DATABASE_MODEL_H
#define DATABASE_MODEL_H

#include <jansson.h>
#include <sys/stat.h>

#include "apr_hash.h"
#include "apr_pools.h"
#include "apr_tables.h"

typedef struct database_model_t {
    const json_t *entities; /* const after open: an object, which may be empty */
    const json_t *queries;  /* const after open: by name */
    apr_hash_t
        /* const after open: by table, an array of arrays of columns: those by which collections find its rows as
         * elements */
        *links;
    const char *path;  /* const after open */
    struct stat state; /* const after open: of the file that was read */
} database_model_t;

/** Read and check a model file.
 * @param model  lives as long as `pool`
 * @return NULL, or a sentence for the administrator */
const char *database_model_read(const database_model_t **model, const char *path, apr_pool_t *pool);

/** Is the file still the one that was read?
 *
 * A changed file is read at a restart only. All children and the tailer have to change over to it together: the tailer
 * touches the interests that follow from its own model, so a page in a child with a newer one would miss changes.
 * @return a sentence for the administrator, a constant; NULL: there is no model. Any thread */
const char *database_model_is_current(const database_model_t *model);

/** The columns of a name, or of a list of names: an array of const char *, which live as long as the model. In
 * `pool`. */
const apr_array_header_t *database_model_columns(const json_t *names, apr_pool_t *pool);

/** The columns by which collections find rows of `table` as elements: an array of such arrays, or NULL. `model` may be
 * NULL. */
const apr_array_header_t *database_model_links(const database_model_t *model, const char *table);

#endif
