/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mod_vault_test.c
 * The handler `vault-test`: small pages, methods, writers and obstacles for the tests of mod_vault, chosen by the
 * last part of the path.
 *
 *   page?poll=URL&poll=…    a page (text/html) with these long-poll methods; view=NAME&interest=I, as often
 *                           as wanted, shows that variable, as `value` would, and
 *                           feed=F&method=M&args=JSON what `call` writes
 *   echo?text=T             writes T; nothing if T is empty
 *   status?code=N           answers N
 *   big?bytes=N             writes N bytes
 *   broken?text=T           writes T, then breaks off as a proxy does whose backend went away
 *   pid                     writes the process id of the child
 *   count                   adds one to the page property "count" and writes it
 *   value?name=V&interest=I a method: creates I, then writes V's value if the page did not show it yet
 *   rows?name=V&interest=I  a method: V is a number; writes one line for each number the page did not show yet, up to V
 *   set?name=V&value=X      sets a variable; notify=I notifies afterwards
 *   add?name=V              adds one to a variable and writes it; notify=I notifies afterwards; die=1: the child
 *                           kills itself in between
 *   get?name=V              writes a variable
 *   numbers?count=N         writes the variables #0, #1, … of which there are N, one a line
 *   said?name=NAME          writes a header of the request; without a name all, one a line; body=1: when it has read
 *                           the body
 *   property?key=K&value=V  sets a page property; without a value, writes it
 *   session?key=K&value=V   sets a session property, or removes it with remove=1; renew=1: another id; without any,
 *                           writes it
 *   notify?interest=I       notifies, times=N: so many times; writes "held" or "nobody"
 *   wait                    nothing but the barrier below
 *   open?name=B close?name=B arrived?name=B   a barrier: let all through, stop the next ones, how many came
 *   kill                    the child kills itself with SIGKILL
 *   damage?text=T&at=N&bits=B   turns bits of a byte near each word T in mod_vault's shared memory (damage.h); writes
 *                           how many words
 *   body                    writes the body of the request
 *   redirect?to=PATH        is redirected internally
 *   inside?name=V           stays for a millisecond, and writes how many were in it for this V then, this one included
 *   include?path=FOLDER     writes what two subrequests of its `echo` write; without a folder, its own
 *   flush                   sends what the page has written so far on its way
 *   render?file=F&data=JSON&action=A&target=T   renders a template; says why not with 400 (or 200 if ignore=1)
 *   show?feed=F&method=M&file=F&action=A&target=T   renders what a feed answers; writes "anew: " before what is a
 *                           first view again
 *   call?feed=F&method=M&args=JSON   calls a feed; writes {"pid": …, "status": …, "rows": …, "error": …}; news=1:
 *                           only if there are rows
 *
 * Any action stops at a barrier when it is told so: before=B first of all; between=B after the interest was created
 * and before the data are read (`value` and `rows`), or before it notifies (`add`); after=B when everything is
 * written. A child that is to end at once stops at none any more. type=T sets the content type; fail=N answers N when
 * everything is done; header=NAME:VALUE and err-header=NAME:VALUE set headers of the answer, when all else is done,
 * as late as a handler can; early-header=NAME:VALUE before anything is written; stranger-header=NAME:VALUE the same,
 * for a client without a cookie. fail-as=V answers what the variable V says, unless that is 0; status-as=V writes its
 * answer with that status.
 *
 * SetEnv vault-test-gate NAME: any request is answered here, unless it has X-Visitor: NAME.
 *
 * The connection of any request stops where its header says, when the MPM is about to poll for it: X-Suspend-Before:
 * B before mod_vault's hook, X-Suspend-After: B behind it.
 */
#include "httpd.h"
#include "http_config.h"
#include "http_core.h"
#include "http_log.h"
#include "http_protocol.h"
#include "mpm_common.h"

#include "apr_strings.h"

#include <stdlib.h>
#include <string.h>

#include "action.h"
#include "shared.h"
#include "suspend.h"

extern module AP_MODULE_DECLARE_DATA vault_test_module;

offers_t vault;

static void retrieve(void)
{
    vault.add_long_poll = APR_RETRIEVE_OPTIONAL_FN(vault_add_long_poll);
    vault.page_script = APR_RETRIEVE_OPTIONAL_FN(vault_page_script);
    vault.page_get = APR_RETRIEVE_OPTIONAL_FN(vault_page_get);
    vault.page_set = APR_RETRIEVE_OPTIONAL_FN(vault_page_set);
    vault.session_get = APR_RETRIEVE_OPTIONAL_FN(vault_session_get);
    vault.session_set = APR_RETRIEVE_OPTIONAL_FN(vault_session_set);
    vault.session_remove = APR_RETRIEVE_OPTIONAL_FN(vault_session_remove);
    vault.session_renew = APR_RETRIEVE_OPTIONAL_FN(vault_session_renew);
    vault.create_interest = APR_RETRIEVE_OPTIONAL_FN(vault_create_interest);
    vault.notify = APR_RETRIEVE_OPTIONAL_FN(vault_notify);
    vault.feed_call = APR_RETRIEVE_OPTIONAL_FN(vault_feed_call);
    vault.is_reset = APR_RETRIEVE_OPTIONAL_FN(vault_feed_is_reset);
    vault.render = APR_RETRIEVE_OPTIONAL_FN(vault_render);
}

static int has_all_offers(void)
{
    return vault.add_long_poll && vault.page_script && vault.page_get && vault.page_set && vault.session_get &&
           vault.session_set && vault.session_remove && vault.session_renew && vault.create_interest && vault.notify &&
           vault.feed_call && vault.is_reset && vault.render;
}

static const action_t *const tables[] = {answer_actions, variable_actions, page_actions, feed_actions};

static const action_t *find_action(const char *uri)
{
    const char *slash = strrchr(uri, '/');

    for (size_t i = 0; slash && i < sizeof tables / sizeof tables[0]; i++) {
        for (const action_t *action = tables[i]; action->name; action++) {
            if (!strcmp(action->name, slash + 1)) {
                return action;
            }
        }
    }
    return NULL;
}

static void set_headers(act_t *act, const char *which)
{
    for (int i = 0; i < act->query->nelts; i++) {
        query_t *q = &APR_ARRAY_IDX(act->query, i, query_t);
        int error = !strcmp(which, "header") && !strcmp(q->name, "err-header");
        const char *colon = strchr(q->value, ':');

        if (colon && (error || !strcmp(q->name, which))) {
            const char *name = apr_pstrmemdup(act->r->pool, q->value, (apr_size_t)(colon - q->value));
            apr_table_addn(error ? act->r->err_headers_out : act->r->headers_out, name, colon + 1);
        }
    }
}

/** The status that the query wants, when all has gone well so far. */
static int wanted_failure(act_t *act)
{
    const char *variable = query_get(act, "fail-as", NULL),
               *value = variable ? shared_get(variable, act->r->pool) : NULL;

    return atoi(value ? value : query_get(act, "fail", "0"));
}

static void set_status(act_t *act)
{
    const char *variable = query_get(act, "status-as", NULL),
               *value = variable ? shared_get(variable, act->r->pool) : NULL;

    if (value && atoi(value)) {
        act->r->status = atoi(value);
    }
}

static int handler(request_rec *r)
{
    const action_t *action;
    act_t act = {r, NULL};
    int status;

    if (!r->handler || strcmp(r->handler, "vault-test")) {
        return DECLINED;
    }
    action = find_action(r->uri);
    if (!action) {
        return HTTP_NOT_FOUND;
    }
    if (!has_all_offers()) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r,
                      "vault-test: mod_vault is not loaded, or lacks an optional function");
        return HTTP_NOT_IMPLEMENTED;
    }
    query_parse(&act);
    ap_set_content_type(r, apr_pstrdup(r->pool, query_get(&act, "type", action->type)));
    status = stop_at(&act, "before");
    set_headers(&act, "early-header");
    if (!apr_table_get(r->headers_in, "Cookie")) {
        set_headers(&act, "stranger-header");
    }
    set_status(&act);
    if (status == OK) {
        status = action->act(&act);
    }
    if (status == OK) {
        status = stop_at(&act, "after");
    }
    set_headers(&act, "header");
    return status == OK ? wanted_failure(&act) : status;
}

/** Where the variable vault-test-gate is a name, answers in the place of all other handlers, but not for a client
 * that sends this name as X-Visitor. */
static int gate(request_rec *r)
{
    const char *name = apr_table_get(r->subprocess_env, "vault-test-gate"),
               *visitor = apr_table_get(r->headers_in, "X-Visitor");

    if (!name || (visitor && !strcmp(visitor, name))) {
        return DECLINED;
    }
    ap_set_content_type(r, "text/html");
    ap_rputs("for members", r);
    return OK;
}

/** Where a connection stops when it is suspended: names of barriers, or NULL. */
typedef struct stops_t {
    const char *before;
    const char *after;
} stops_t;

/** Kept with the connection, since the hooks below do not get the request. */
static int note_stops(request_rec *r)
{
    const char *before = apr_table_get(r->headers_in, "X-Suspend-Before"),
               *after = apr_table_get(r->headers_in, "X-Suspend-After");
    stops_t *stops = ap_get_module_config(r->connection->conn_config, &vault_test_module);

    if (!stops && (before || after)) {
        stops = apr_pcalloc(r->connection->pool, sizeof *stops);
        ap_set_module_config(r->connection->conn_config, &vault_test_module, stops);
    }
    if (stops) {
        stops->before = before ? apr_pstrdup(r->connection->pool, before) : NULL;
        stops->after = after ? apr_pstrdup(r->connection->pool, after) : NULL;
    }
    return DECLINED;
}

static void stop_before_suspending(conn_rec *c, request_rec *r)
{
    const stops_t *stops = ap_get_module_config(c->conn_config, &vault_test_module);

    if (stops && stops->before) {
        shared_barrier_wait(stops->before);
    }
}

static void stop_after_suspending(conn_rec *c, request_rec *r)
{
    const stops_t *stops = ap_get_module_config(c->conn_config, &vault_test_module);

    if (stops && stops->after) {
        shared_barrier_wait(stops->after);
    }
}

static int post_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp, server_rec *s)
{
    if (ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_CREATE_PRE_CONFIG) {
        return OK;
    }
    return shared_create(pconf) == APR_SUCCESS ? OK : HTTP_INTERNAL_SERVER_ERROR;
}

static void child_stopping(apr_pool_t *pchild, int graceful)
{
    if (!graceful) {
        shared_barriers_abandon();
    }
}

static void register_hooks(apr_pool_t *p)
{
    static const char *const mod_vault[] = {"mod_vault.c", NULL};

    ap_hook_optional_fn_retrieve(retrieve, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_post_config(post_config, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_handler(handler, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_handler(gate, NULL, NULL, APR_HOOK_FIRST);
    ap_hook_child_stopping(child_stopping, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_post_read_request(note_stops, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_suspend_connection(stop_before_suspending, NULL, mod_vault, APR_HOOK_FIRST);
    ap_hook_suspend_connection(stop_after_suspending, mod_vault, NULL, APR_HOOK_REALLY_LAST);
    suspend_hooks();
}

AP_DECLARE_MODULE(vault_test) = {
    STANDARD20_MODULE_STUFF,
    .register_hooks = register_hooks,
};
