/* SPDX-License-Identifier: Apache-2.0 */
/* What methods wrote, as JSON. */
#include "updates.h"

#include "method.h"

json_t *vault_updates_list(const apr_array_header_t *outputs)
{
    json_t *updates = json_array();
    int i;

    for (i = 0; i < outputs->nelts; i++) {
        const vault_output_t *o = &APR_ARRAY_IDX(outputs, i, vault_output_t);
        json_t *update = json_pack("{s:s, s:s, s:s%}", "method", o->url, "type", o->type, "body", o->body, o->length);
        if (update && o->format) {
            json_object_set_new(update, "format", json_string(o->format));
        }
        if (json_array_append_new(updates, update)) {
            json_decref(updates);
            return NULL;
        }
    }
    return updates;
}

json_t *vault_updates_answer(apr_uint64_t seq, const apr_array_header_t *outputs)
{
    return json_pack("{s:I, s:o}", "seq", (json_int_t)seq, "updates", vault_updates_list(outputs));
}
