/* SPDX-License-Identifier: Apache-2.0 */
/* Actions of the handler `vault-test` that are pages, or methods of pages that show variables. */
#include "httpd.h"
#include "http_log.h"
#include "http_protocol.h"

#include "apr_strings.h"

#include <stdlib.h>
#include <string.h>

#include "action.h"
#include "shared.h"

APLOG_USE_MODULE(vault_test);

static int act_count(act_t *act)
{
    const char *old = vault.page_get(act->r, "count");
    const char *now = apr_itoa(act->r->pool, (old ? atoi(old) : 0) + 1);

    if (vault.page_set(act->r, "count", now) != APR_SUCCESS) {
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    ap_rputs(now, act->r);
    return OK;
}

static int act_property(act_t *act)
{
    const char *key = query_get(act, "key", ""), *value = query_get(act, "value", NULL);
    apr_status_t rv = value ? vault.page_set(act->r, key, value) : APR_SUCCESS;

    if (!value && (value = vault.page_get(act->r, key))) {
        ap_rputs(value, act->r);
    }
    return rv == APR_SUCCESS ? OK : rv == APR_NOTFOUND ? HTTP_CONFLICT : HTTP_BAD_REQUEST;
}

static int session_status(apr_status_t rv)
{
    switch (rv) {
    case APR_SUCCESS:
        return OK;
    case APR_EACCES:
        return HTTP_FORBIDDEN;
    case APR_NOTFOUND:
        return HTTP_CONFLICT;
    case APR_EINIT:
        return HTTP_GONE;
    case APR_ENOSPC:
        return HTTP_SERVICE_UNAVAILABLE;
    default:
        return HTTP_BAD_REQUEST;
    }
}

static int act_session(act_t *act)
{
    const char *key = query_get(act, "key", ""), *value = query_get(act, "value", NULL);

    if (query_get(act, "renew", NULL)) {
        return session_status(vault.session_renew(act->r));
    }
    if (value) {
        return session_status(vault.session_set(act->r, key, value));
    }
    if (query_get(act, "remove", NULL)) {
        return session_status(vault.session_remove(act->r, key));
    }
    if ((value = vault.session_get(act->r, key))) {
        ap_rputs(value, act->r);
    }
    return OK;
}

/** The value of this variable that the page showed last; its key is the name of the variable. */
static const char *shown(act_t *act, const char *name)
{
    return vault.page_get(act->r, apr_pstrcat(act->r->pool, "shown-", name, NULL));
}

static void set_shown(act_t *act, const char *name, const char *value)
{
    vault.page_set(act->r, apr_pstrcat(act->r->pool, "shown-", name, NULL), value);
}

/** First the interest, then the data: the loop that cannot miss.
 * @return OK and the value, or NULL for "nothing happened"; or a status */
static int look(act_t *act, const char *name, const char *interest, const char **value)
{
    const char *cursor = apr_pstrcat(act->r->pool, "vault-test/", name, NULL);
    int moved = interest ? vault.create_interest(act->r, interest, cursor) : 1;
    int status = stop_at(act, "between");

    *value = NULL;
    if (status != OK || !moved) {
        return status;
    }
    *value = shared_get(name, act->r->pool);
    return *value ? OK : HTTP_BAD_REQUEST;
}

static int act_value(act_t *act)
{
    const char *name = query_get(act, "name", ""), *value, *last = shown(act, name);
    int status = look(act, name, query_get(act, "interest", NULL), &value);

    if (status == OK && value && (!last || strcmp(last, value))) {
        set_shown(act, name, value);
        ap_rputs(value, act->r);
    }
    return status;
}

static int act_rows(act_t *act)
{
    const char *name = query_get(act, "name", ""), *value, *last = shown(act, name);
    int status = look(act, name, query_get(act, "interest", NULL), &value);
    long n = last ? strtol(last, NULL, 10) : 0, end = status == OK && value ? strtol(value, NULL, 10) : 0;

    if (n < end) {
        set_shown(act, name, value);
    }
    while (n < end) {
        ap_rprintf(act->r, "%ld\n", ++n);
    }
    return status;
}

/** The status for a long poll that could not be added. */
static int refused(act_t *act, const char *url, apr_status_t rv)
{
    ap_log_rerror(APLOG_MARK, APLOG_INFO, rv, act->r, "vault-test: cannot add the long poll \"%s\"", url);
    switch (rv) {
    case APR_EINVAL:
        return HTTP_BAD_REQUEST;
    case APR_EACCES:
        return HTTP_FORBIDDEN;
    case APR_ENOSPC:
        return HTTP_SERVICE_UNAVAILABLE;
    default:
        return HTTP_INTERNAL_SERVER_ERROR;
    }
}

/** The n-th view=NAME with the n-th interest=I.
 * @param said  the text of the page so far; extended */
static int add_view(act_t *act, int n, const char **said)
{
    const char *view = query_nth(act, "view", n), *value;
    int status = look(act, view, query_nth(act, "interest", n), &value);

    if (status == OK) {
        set_shown(act, view, value);
        *said = apr_pstrcat(act->r->pool, *said, n ? " " : "", value, NULL);
    }
    return status;
}

static int act_page(act_t *act)
{
    const char *said = "", *script;

    for (int n = 0; query_nth(act, "view", n); n++) {
        int status = add_view(act, n, &said);

        if (status != OK) {
            return status;
        }
    }
    for (int i = 0; i < act->query->nelts; i++) {
        query_t *q = &APR_ARRAY_IDX(act->query, i, query_t);
        apr_status_t rv = strcmp(q->name, "poll") ? APR_SUCCESS : vault.add_long_poll(act->r, q->value);

        if (rv != APR_SUCCESS) {
            return refused(act, q->value, rv);
        }
    }
    script = vault.page_script(act->r);
    ap_rprintf(act->r, "<!DOCTYPE html>\n<title>vault-test</title>\n%s\n<p id=\"view\">%s</p>\n", script ? script : "",
               ap_escape_html(act->r->pool, said));
    return query_get(act, "feed", NULL) ? act_call(act) : OK;
}

const action_t page_actions[] = {
    {"count", "text/html", act_count},
    {"page", "text/html", act_page},
    {"property", "text/plain", act_property},
    {"rows", "text/html", act_rows},
    {"session", "text/html", act_session},
    {"value", "text/html", act_value},
    {NULL, NULL, NULL},
};
