/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by all actions of the handler `vault-test`: the query string, and barriers. */
#include "action.h"

#include "http_log.h"

#include "apr_lib.h"
#include "apr_strings.h"

#include <string.h>

#include "shared.h"

APLOG_USE_MODULE(vault_test);

void query_parse(act_t *act)
{
    char *rest = apr_pstrdup(act->r->pool, act->r->args ? act->r->args : ""), *pair, *state = NULL;

    act->query = apr_array_make(act->r->pool, 8, sizeof(query_t));
    for (pair = apr_strtok(rest, "&", &state); pair; pair = apr_strtok(NULL, "&", &state)) {
        char *equals = strchr(pair, '=');
        query_t *q = apr_array_push(act->query);

        if (equals) {
            *equals++ = '\0';
        }
        q->name = pair;
        q->value = equals ? equals : "";
        ap_unescape_urlencoded(pair);
        ap_unescape_urlencoded((char *)q->value);
    }
}

const char *query_get(act_t *act, const char *name, const char *fallback)
{
    const char *value = query_nth(act, name, 0);

    return value ? value : fallback;
}

const char *query_nth(act_t *act, const char *name, int n)
{
    for (int i = 0; i < act->query->nelts; i++) {
        query_t *q = &APR_ARRAY_IDX(act->query, i, query_t);

        if (!strcmp(q->name, name) && n-- == 0) {
            return q->value;
        }
    }
    return NULL;
}

int stop_at(act_t *act, const char *where)
{
    const char *barrier = query_get(act, where, NULL);
    apr_status_t rv = barrier ? shared_barrier_wait(barrier) : APR_SUCCESS;

    if (rv != APR_SUCCESS) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, rv, act->r, "vault-test: no request opened the barrier \"%s\"", barrier);
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    return OK;
}
