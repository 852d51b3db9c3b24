/* SPDX-License-Identifier: Apache-2.0 */
/* What methods wrote, as JSON. */
#include "updates.h"

#include <string.h>

#include "method.h"

static void write_text(vault_json_text_t *t, const char *before, const char *s)
{
    vault_json_text_raw(t, before);
    vault_json_text_string(t, s, strlen(s));
}

static void write_update(vault_json_text_t *t, const vault_output_t *o)
{
    write_text(t, "{\"method\":", o->url);
    write_text(t, ",\"type\":", o->type);
    vault_json_text_raw(t, ",\"body\":");
    vault_json_text_string(t, o->body, o->length);
    if (o->format) {
        write_text(t, ",\"format\":", o->format);
    }
    vault_json_text_raw(t, "}");
}

void vault_updates_write(vault_json_text_t *t, const apr_array_header_t *outputs)
{
    int i;

    vault_json_text_raw(t, "[");
    for (i = 0; i < outputs->nelts; i++) {
        if (i) {
            vault_json_text_raw(t, ",");
        }
        write_update(t, &APR_ARRAY_IDX(outputs, i, vault_output_t));
    }
    vault_json_text_raw(t, "]");
}
