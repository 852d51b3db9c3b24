/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file delta.h
 * What has changed in a list of rows, as an answer.
 */
#ifndef DATABASE_DELTA_H
#define DATABASE_DELTA_H

#include <jansson.h>

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
