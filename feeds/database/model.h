/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file model.h
 * The objects that an application sees in its tables: entities with properties and collections, and named queries.
 *
 * A file in JSON, the parameter `model`, read and checked when httpd starts; names of tables and columns are looked up in
 * the database when they are first used.
 *
 *     {"entities": {
 *        "Profile":  {"table": "profiles", "properties": {"name": "full_name", "status": "status"},
 *                     "collections": {"posts": {"entity": "WallPost", "column": "profile_id"}}},
 *        "WallPost": {"table": "posts", "properties": {"text": "body"}}},
 *      "queries": {
 *        "bids": {"sql": "SELECT b.id, b.amount FROM bids b WHERE b.item = :item", "tables": ["bids"],
 *                 "columns": {"id": "integer", "amount": "real"}, "key": ["id"], "parameters": {"item": "integer"}}}}
 */
#ifndef DATABASE_MODEL_H
#define DATABASE_MODEL_H

#include <jansson.h>

#include "apr_hash.h"
#include "apr_pools.h"

typedef struct database_model_t {
    const json_t *entities; /* const after open: an object, which may be empty */
    const json_t *queries;  /* const after open: likewise */
    apr_hash_t *links; /* const after open: by the table of elements, an array of the columns that they are found by */
} database_model_t;

/** Read and check a model file.
 * @param model  lives as long as `pool`
 * @return NULL, or a sentence */
const char *database_model_read(const database_model_t **model, const char *path, apr_pool_t *pool);

/** Is `column` of `table` what the elements of a collection are found by? `model` may be NULL. */
int database_model_links(const database_model_t *model, const char *table, const char *column);

#endif
