/* SPDX-License-Identifier: Apache-2.0 */
/* Actions of the handler `vault-test` on data that all children share: variables, notifies, barriers. */
#include "http_protocol.h"

#include "apr_strings.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "action.h"
#include "shared.h"

static int notify_after(act_t *act, const char *interest)
{
    apr_status_t rv = interest ? vault.notify(interest) : APR_SUCCESS;

    return rv == APR_SUCCESS || rv == APR_NOTFOUND ? OK : HTTP_BAD_REQUEST;
}

static int act_set(act_t *act)
{
    if (shared_set(query_get(act, "name", ""), query_get(act, "value", "")) != APR_SUCCESS) {
        return HTTP_BAD_REQUEST;
    }
    return notify_after(act, query_get(act, "notify", NULL));
}

static int act_add(act_t *act)
{
    long now = shared_add(query_get(act, "name", ""), 1);

    if (now < 0) {
        return HTTP_BAD_REQUEST;
    }
    ap_rprintf(act->r, "%ld", now);
    if (query_get(act, "die", NULL)) {
        kill(getpid(), SIGKILL);
    }
    if (stop_at(act, "between") != OK) {
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    return notify_after(act, query_get(act, "notify", NULL));
}

static int act_get(act_t *act)
{
    const char *value = shared_get(query_get(act, "name", ""), act->r->pool);

    if (!value) {
        return HTTP_BAD_REQUEST;
    }
    ap_rputs(value, act->r);
    return OK;
}

static int act_numbers(act_t *act)
{
    int count = atoi(query_get(act, "count", "0"));

    for (int i = 0; i < count; i++) {
        const char *value = shared_get(apr_psprintf(act->r->pool, "#%d", i), act->r->pool);

        if (!value) {
            return HTTP_BAD_REQUEST;
        }
        ap_rprintf(act->r, "%s\n", value);
    }
    return OK;
}

static int act_inside(act_t *act)
{
    const char *name = query_get(act, "name", "");
    long now = shared_add(name, 1);

    apr_sleep(1000); /* so that other threads can interleave */
    ap_rprintf(act->r, "%ld\n", now);
    return shared_add(name, -1) < 0 ? HTTP_BAD_REQUEST : OK;
}

static int act_notify(act_t *act)
{
    int times = atoi(query_get(act, "times", "1"));
    apr_status_t rv = APR_SUCCESS;

    while (times-- > 0) {
        rv = vault.notify(query_get(act, "interest", ""));
    }

    if (rv != APR_SUCCESS && rv != APR_NOTFOUND) {
        return HTTP_BAD_REQUEST;
    }
    ap_rputs(rv == APR_SUCCESS ? "held" : "nobody", act->r);
    return OK;
}

static int act_open(act_t *act)
{
    return shared_barrier_open(query_get(act, "name", "")) == APR_SUCCESS ? OK : HTTP_BAD_REQUEST;
}

static int act_close(act_t *act)
{
    return shared_barrier_close(query_get(act, "name", "")) == APR_SUCCESS ? OK : HTTP_BAD_REQUEST;
}

static int act_arrived(act_t *act)
{
    ap_rprintf(act->r, "%ld", shared_barrier_arrived(query_get(act, "name", "")));
    return OK;
}

const action_t variable_actions[] = {
    {"add", "text/plain", act_add},         {"arrived", "text/plain", act_arrived},
    {"close", "text/plain", act_close},     {"get", "text/plain", act_get},
    {"inside", "text/plain", act_inside},   {"notify", "text/plain", act_notify},
    {"numbers", "text/plain", act_numbers}, {"open", "text/plain", act_open},
    {"set", "text/plain", act_set},         {NULL, NULL, NULL},
};
