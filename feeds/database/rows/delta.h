/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file delta.h
 * The changes of a list of rows, as an answer.
 */
#ifndef DATABASE_DELTA_H
#define DATABASE_DELTA_H

#include <jansson.h>

/** Elements that were added, were removed, and have changed. */
typedef struct database_delta_t {
    json_t *added, *removed, *changed; /**< lists */
} database_delta_t;

void database_delta_make(database_delta_t *delta);
/** Make an answer; takes the lists of the delta.
 * @param all  a first view, or a reset: return an answer even if it is empty
 * @return {"added", "removed", "changed"}; NULL: nothing is new */
json_t *database_delta_answer(database_delta_t *delta, int all, int reset);

#endif
