/* SPDX-License-Identifier: Apache-2.0 */
/* Makes an answer of the changes of a list of rows: see delta.h. */
#include "database/rows/delta.h"

void database_delta_make(database_delta_t *delta)
{
    delta->added = json_array();
    delta->removed = json_array();
    delta->changed = json_array();
}

json_t *database_delta_answer(database_delta_t *delta, int all, int reset)
{
    size_t count = json_array_size(delta->added) + json_array_size(delta->removed) + json_array_size(delta->changed);
    json_t *answer = json_object();

    json_object_set_new_nocheck(answer, "added", delta->added);
    json_object_set_new_nocheck(answer, "removed", delta->removed);
    json_object_set_new_nocheck(answer, "changed", delta->changed);
    if (count == 0 && !all) {
        json_decref(answer);
        return NULL;
    }
    if (reset) {
        json_object_set_new(answer, "reset", json_true());
    }
    return answer;
}
