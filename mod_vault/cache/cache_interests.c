/* SPDX-License-Identifier: Apache-2.0 */
/* The interests that a response names in its header, one a line. A name that contains a line end is not
 * remembered. */
#include "cache/cache_interests.h"

#include "apr_strings.h"

#include "base/now.h"
#include "server/server.h"

#define KEPT_FOR apr_time_from_sec(24 * 3600)

static const char *key_of(const char *key, apr_pool_t *pool)
{
    return apr_pstrcat(pool, "interests", ap_strchr_c(key, ' '), NULL);
}

static void add(apr_array_header_t *list, const char *name)
{
    int i;

    for (i = 0; i < list->nelts; i++) {
        if (!strcmp(APR_ARRAY_IDX(list, i, const char *), name)) {
            return;
        }
    }
    if (!strchr(name, '\n')) {
        APR_ARRAY_PUSH(list, const char *) = apr_pstrcat(list->pool, name, "\n", NULL);
    }
}

static void add_held(apr_array_header_t *list, const apr_array_header_t *held)
{
    int i;

    for (i = 0; i < held->nelts; i++) {
        add(list, APR_ARRAY_IDX(held, i, vault_recording_held_t).interest);
    }
}

static void add_all(apr_array_header_t *list, const apr_array_header_t *names)
{
    int i;

    for (i = 0; i < names->nelts; i++) {
        add(list, APR_ARRAY_IDX(names, i, const char *));
    }
}

/* A handler may name other interests each time. The list grows, so that all of them are held in the end; if there are
 * too many for an entry, it begins again with those of this response. */
static apr_array_header_t *list_of(const vault_recording_t *rec)
{
    apr_array_header_t *list = apr_array_make(rec->pool, 8, sizeof(const char *));

    add_all(list, rec->named);
    add_held(list, rec->held);
    if (list->nelts > VAULT_OUTPUT_INTERESTS) {
        apr_array_clear(list);
        add_all(list, rec->named);
    }
    return list;
}

void vault_cache_interests_keep(const vault_recording_t *rec, const char *key)
{
    vault_output_content_t content = {.metadata = "", .until = vault_now() + KEPT_FOR};
    vault_output_lead_t lead;
    apr_array_header_t *list = list_of(rec);

    key = key_of(key, rec->pool);
    if (!rec->missed || list->nelts > VAULT_OUTPUT_INTERESTS ||
        vault_output_lead(vault_server->outputs, key, strlen(key), 0, vault_server->slot, &lead) != APR_SUCCESS) {
        return;
    }
    content.body = apr_array_pstrcat(rec->pool, list, 0);
    content.body_size = strlen(content.body);
    vault_output_keep(vault_server->outputs, &lead, &content);
}

apr_array_header_t *vault_cache_interests_find(const char *key, apr_pool_t *pool)
{
    apr_array_header_t *names = apr_array_make(pool, 8, sizeof(const char *));
    vault_output_entry_t entry;
    vault_output_body_t body;
    char *name, *next, *text;

    memset(&entry, 0, sizeof(entry));
    key = key_of(key, pool);
    if (vault_outputs_find(vault_server->outputs, key, strlen(key), &entry, pool) != VAULT_OUTPUT_ENTRY ||
        vault_output_body(vault_server->outputs, &entry, VAULT_OUTPUT_PLAIN, &body, pool) != APR_SUCCESS ||
        !body.text) {
        return names;
    }
    text = apr_pstrmemdup(pool, body.text, body.size);
    for (name = apr_strtok(text, "\n", &next); name; name = apr_strtok(NULL, "\n", &next)) {
        APR_ARRAY_PUSH(names, const char *) = name;
    }
    return names;
}

void vault_cache_interests_hold(vault_recording_t *rec, const apr_array_header_t *names)
{
    int i;

    for (i = 0; i < names->nelts; i++) {
        vault_recording_expect(rec, APR_ARRAY_IDX(names, i, const char *));
    }
}
