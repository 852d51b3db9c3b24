/* SPDX-License-Identifier: Apache-2.0 */
/* Actions of the handler `vault-test` that call feeds and render templates. */
#include "http_protocol.h"

#include <stdlib.h>
#include <unistd.h>

#include "action.h"

int act_call(act_t *act)
{
    json_t *args = json_loads(query_get(act, "args", "{}"), JSON_ALLOW_NUL, NULL), *rows = NULL, *answer;
    const char *error = NULL;
    char *text;
    apr_status_t rv;

    if (!json_is_object(args)) {
        json_decref(args);
        return HTTP_BAD_REQUEST;
    }
    rv = vault.feed_call(act->r, query_get(act, "feed", ""), query_get(act, "method", ""), args, &rows, &error);
    if (query_get(act, "news", NULL) && rv == APR_SUCCESS && !rows) {
        json_decref(args);
        return OK;
    }
    answer = json_pack("{s:i, s:i, s:o?, s:s?}", "pid", (int)getpid(), "status", (int)rv, "rows", rows, "error", error);
    text = json_dumps(answer, JSON_COMPACT);
    ap_rputs(text ? text : "", act->r);
    free(text);
    json_decref(answer);
    json_decref(args);
    return OK;
}

/** The error is the body of the answer, as in an application that shows it. */
static int act_render(act_t *act)
{
    const char *text = query_get(act, "data", NULL), *error = NULL;
    json_t *data = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    vault_render_t what = {.file = query_get(act, "file", NULL),
                           .data = data,
                           .action = query_get(act, "action", NULL),
                           .target = query_get(act, "target", NULL)};
    apr_status_t rv = vault.render(act->r, &what, &error);

    json_decref(data);
    if (rv == APR_SUCCESS) {
        return OK;
    }
    ap_rprintf(act->r, "%d %s", (int)rv, error);
    act->r->status = query_get(act, "ignore", NULL) ? HTTP_OK : HTTP_BAD_REQUEST;
    return OK;
}

static int act_show(act_t *act)
{
    vault_render_t what = {.file = query_get(act, "file", NULL),
                           .action = query_get(act, "action", NULL),
                           .target = query_get(act, "target", NULL)};
    json_t *args = json_object(), *rows = NULL;
    const char *error = NULL;
    apr_status_t rv =
        vault.feed_call(act->r, query_get(act, "feed", ""), query_get(act, "method", ""), args, &rows, &error);

    json_decref(args);
    if (rv == APR_SUCCESS) {
        ap_rputs(vault.is_reset(act->r, rows) ? "anew: " : "", act->r);
        what.data = rows;
        rv = vault.render(act->r, &what, &error);
    }
    json_decref(rows);
    return rv == APR_SUCCESS ? OK : HTTP_INTERNAL_SERVER_ERROR;
}

const action_t feed_actions[] = {
    {"call", "application/json", act_call},
    {"render", "text/html", act_render},
    {"show", "text/html", act_show},
    {NULL, NULL, NULL},
};
