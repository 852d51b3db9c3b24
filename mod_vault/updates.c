/* SPDX-License-Identifier: Apache-2.0 */
/* What methods wrote, as JSON. */
#include "updates.h"

#include <string.h>

static apr_status_t drop_text(void *u)
{
    vault_json_text_drop(&((vault_updates_t *)u)->text);
    return APR_SUCCESS;
}

void vault_updates_begin(vault_updates_t *u, apr_pool_t *pool)
{
    memset(u, 0, sizeof(*u));
    apr_pool_cleanup_register(pool, u, drop_text, apr_pool_cleanup_null);
}

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

int vault_answer_budget_allows(vault_answer_budget_t *budget, apr_size_t length)
{
    budget->full |= budget->used && (budget->used >= budget->most || length > budget->most - budget->used);
    return !budget->full;
}

/* The JSON of a text is not shorter than the text. */
int vault_updates_add(vault_updates_t *u, const vault_output_t *output, vault_answer_budget_t *budget)
{
    apr_size_t before = u->text.length;

    if (!vault_answer_budget_allows(budget, output->length)) {
        return 0;
    }
    if (u->count) {
        vault_json_text_raw(&u->text, ",");
    }
    write_update(&u->text, output);
    if (!vault_answer_budget_allows(budget, u->text.length - before)) {
        u->text.length = before;
        return 0;
    }
    budget->used += u->text.length - before;
    u->count++;
    return 1;
}

void vault_updates_write(vault_json_text_t *t, vault_updates_t *u)
{
    vault_json_text_raw(t, "[");
    vault_json_text_take(t, &u->text);
    vault_json_text_raw(t, "]");
    u->count = 0;
}
