/* SPDX-License-Identifier: Apache-2.0 */
/* The interests that a response names in its header, one a line. A name that contains a line end is not
 * remembered. */
#include "cache/cache_interests.h"

#include "apr_strings.h"

#include "base/now.h"
#include "server/server.h"

#define KEPT_FOR apr_time_from_sec(24 * 3600)

static const char *key_of(const vault_recording_t *rec, const char *key)
{
    return apr_pstrcat(rec->pool, "interests", ap_strchr_c(key, ' '), NULL);
}

static const char *list_of(const vault_recording_t *rec)
{
    const char *list = "";
    int i;

    for (i = 0; i < rec->held->nelts + rec->late->nelts; i++) {
        const char *name = i < rec->held->nelts ? APR_ARRAY_IDX(rec->held, i, const char *)
                                                : APR_ARRAY_IDX(rec->late, i - rec->held->nelts, const char *);
        if (!strchr(name, '\n')) {
            list = apr_pstrcat(rec->pool, list, name, "\n", NULL);
        }
    }
    return list;
}

void vault_cache_interests_keep(const vault_recording_t *rec, const char *key)
{
    vault_output_content_t content = {.facts = "", .until = vault_now() + KEPT_FOR};
    vault_output_lead_t lead;

    key = key_of(rec, key);
    if (!rec->late->nelts ||
        vault_output_lead(vault_server->outputs, key, strlen(key), 0, vault_server->slot, &lead) != APR_SUCCESS) {
        return;
    }
    content.body = list_of(rec);
    content.body_size = strlen(content.body);
    vault_output_keep(vault_server->outputs, &lead, &content);
}

void vault_cache_interests_hold(vault_recording_t *rec, const char *key)
{
    vault_output_entry_t entry;
    vault_output_body_t body;
    char *name, *next, *text;

    memset(&entry, 0, sizeof(entry));
    key = key_of(rec, key);
    if (vault_outputs_find(vault_server->outputs, key, strlen(key), &entry, rec->pool) != VAULT_OUTPUT_ENTRY ||
        vault_output_body(vault_server->outputs, &entry, VAULT_OUTPUT_PLAIN, &body, rec->pool) != APR_SUCCESS ||
        !body.text) {
        return;
    }
    text = apr_pstrmemdup(rec->pool, body.text, body.size);
    for (name = apr_strtok(text, "\n", &next); name; name = apr_strtok(NULL, "\n", &next)) {
        vault_recording_interest(rec, name);
    }
}
