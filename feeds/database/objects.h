/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file objects.h
 * What a page asks of objects: properties and collections of entities, and named queries.
 */
#ifndef DATABASE_OBJECTS_H
#define DATABASE_OBJECTS_H

#include "database.h"

/** Bodies of methods (methods.c). */
apr_status_t database_property_changes_body(sql_call_t *c, const char *entity, json_t **rows);
apr_status_t database_collection_changes_body(sql_call_t *c, const char *entity, json_t **rows);
apr_status_t database_query_changes_body(sql_call_t *c, const char *query, json_t **rows);

/** Elements that came in, went out, changed. */
typedef struct database_delta_t {
    json_t *added, *removed, *changed; /**< lists */
} database_delta_t;

void database_delta_make(database_delta_t *delta);
/** The delta as an answer; takes its lists.
 * @param all  a first view, or everything anew: an answer even when it is empty
 * @return {"added", "removed", "changed"}; NULL: nothing is new */
json_t *database_delta_answer(database_delta_t *delta, int all, int reset);

#endif
