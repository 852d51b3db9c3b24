/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mod_vault_test.c
 * The handler `vault-test`: small pages, methods, writers and obstacles for the tests of mod_vault, chosen by the last part of the path.
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
 *   add?name=V              adds one to a variable and writes it; notify=I notifies afterwards; die=1: the child kills itself in between
 *   get?name=V              writes a variable
 *   numbers?count=N         writes the variables #0, #1, … of which there are N, one a line
 *   said?name=NAME          writes a header of the request; without a name all, one a line; body=1: when it has read the body
 *   property?key=K&value=V  sets a page property; without a value, writes it
 *   notify?interest=I       notifies; writes "held" or "nobody"
 *   wait                    nothing but the barrier below
 *   open?name=B close?name=B arrived?name=B   a barrier: let all through, stop the next ones, how many came
 *   kill                    the child kills itself with SIGKILL
 *   damage?text=T&at=N&bits=B   turns bits of a byte near each word T in mod_vault's shared memory (damage.h); writes how many words
 *   body                    writes the body of the request
 *   redirect?to=PATH        is redirected internally
 *   inside?name=V           stays for a millisecond, and writes how many were in it for this V then, this one included
 *   include?path=FOLDER     writes what two subrequests of its `echo` write; without a folder, its own
 *   flush                   sends what the page has written so far on its way
 *   render?file=F&data=JSON&action=A&target=T   renders a template; says why not with 400 (or 200 if ignore=1)
 *   show?feed=F&method=M&file=F&action=A&target=T   renders what a feed answers; writes "anew: " before what is a first view again
 *   call?feed=F&method=M&args=JSON   calls a feed; writes {"pid": …, "status": …, "rows": …, "error": …}; news=1: only if there are rows
 *
 * Any action stops at a barrier when it is told so: before=B first of all; between=B after the interest was created and before the data
 * are read (`value` and `rows`); after=B when everything is written. type=T sets the content type; fail=N answers N when everything is done;
 * header=NAME:VALUE and err-header=NAME:VALUE set headers of the answer, when all else is done, as late as a handler can.
 * fail-as=V answers what the variable V says, unless that is 0.
 *
 * The connection of any request stops where its header says, when the MPM is about to poll for it: X-Suspend-Before: B before mod_vault's
 * hook, X-Suspend-After: B behind it.
 */
#include "httpd.h"
#include "http_config.h"
#include "http_core.h"
#include "http_log.h"
#include "http_protocol.h"
#include "http_request.h"
#include "mpm_common.h"
#include "util_script.h"

#include "apr_lib.h"
#include "apr_strings.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "damage.h"
#include "shared.h"
#include "suspend.h"
#include "vault.h"

extern module AP_MODULE_DECLARE_DATA vault_test_module;

static APR_OPTIONAL_FN_TYPE(vault_add_long_poll) * add_long_poll;
static APR_OPTIONAL_FN_TYPE(vault_page_script) * page_script;
static APR_OPTIONAL_FN_TYPE(vault_page_get) * page_get;
static APR_OPTIONAL_FN_TYPE(vault_page_set) * page_set;
static APR_OPTIONAL_FN_TYPE(vault_create_interest) * create_interest;
static APR_OPTIONAL_FN_TYPE(vault_notify) * notify;
static APR_OPTIONAL_FN_TYPE(vault_feed_call) * feed_call;
static APR_OPTIONAL_FN_TYPE(vault_feed_is_reset) * is_reset;
static APR_OPTIONAL_FN_TYPE(vault_render) * render;

/** One request: its query string taken apart, in order, a name may come again. */
typedef struct act_t {
    request_rec *r;
    apr_array_header_t *query; /* of query_t */
} act_t;

typedef struct query_t {
    const char *name;
    const char *value;
} query_t;

static void parse_query(act_t *act)
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

/** The value of the name that comes for the n-th time, from 0. */
static const char *nth_query(act_t *act, const char *name, int n)
{
    for (int i = 0; i < act->query->nelts; i++) {
        query_t *q = &APR_ARRAY_IDX(act->query, i, query_t);

        if (!strcmp(q->name, name) && n-- == 0) {
            return q->value;
        }
    }
    return NULL;
}

static const char *query(act_t *act, const char *name, const char *fallback)
{
    const char *value = nth_query(act, name, 0);

    return value ? value : fallback;
}

/** Stop where the query says so.
 * @return OK, or the status that ends the request */
static int at_barrier(act_t *act, const char *where)
{
    const char *barrier = query(act, where, NULL);
    apr_status_t rv = barrier ? shared_barrier_wait(barrier) : APR_SUCCESS;

    if (rv != APR_SUCCESS) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, rv, act->r, "vault-test: nobody opened the barrier \"%s\"", barrier);
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    return OK;
}

static int act_echo(act_t *act)
{
    ap_rputs(query(act, "text", ""), act->r);
    return OK;
}

static int act_status(act_t *act)
{
    return atoi(query(act, "code", "204"));
}

static int act_big(act_t *act)
{
    static const char block[] = "0123456789abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ\n";
    apr_int64_t left = apr_atoi64(query(act, "bytes", "0"));

    while (left > 0) {
        int n = left < (apr_int64_t)sizeof block - 1 ? (int)left : (int)sizeof block - 1;

        if (ap_rwrite(block, n, act->r) < 0) {
            break;
        }
        left -= n;
    }
    return OK;
}

static int act_broken(act_t *act)
{
    conn_rec *c = act->r->connection;
    apr_bucket_brigade *bb = apr_brigade_create(act->r->pool, c->bucket_alloc);

    apr_brigade_puts(bb, NULL, NULL, query(act, "text", ""));
    APR_BRIGADE_INSERT_TAIL(bb, ap_bucket_error_create(HTTP_BAD_GATEWAY, NULL, act->r->pool, c->bucket_alloc));
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_eos_create(c->bucket_alloc));
    ap_pass_brigade(act->r->output_filters, bb);
    return OK;
}

static int act_pid(act_t *act)
{
    ap_rprintf(act->r, "%" APR_PID_T_FMT, getpid());
    return OK;
}

static int act_count(act_t *act)
{
    const char *old = page_get(act->r, "count");
    const char *now = apr_itoa(act->r->pool, (old ? atoi(old) : 0) + 1);

    if (page_set(act->r, "count", now) != APR_SUCCESS) {
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    ap_rputs(now, act->r);
    return OK;
}

/** What the page showed of this variable last; its key is the variable's name. */
static const char *shown(act_t *act, const char *name)
{
    return page_get(act->r, apr_pstrcat(act->r->pool, "shown-", name, NULL));
}

static void set_shown(act_t *act, const char *name, const char *value)
{
    page_set(act->r, apr_pstrcat(act->r->pool, "shown-", name, NULL), value);
}

/** First the interest, then the data: the loop that cannot miss.
 * @return OK and the value, or NULL for "nothing happened"; or a status */
static int look(act_t *act, const char *name, const char *interest, const char **value)
{
    const char *cursor = apr_pstrcat(act->r->pool, "vault-test/", name, NULL);
    int moved = interest ? create_interest(act->r, interest, cursor) : 1;
    int status = at_barrier(act, "between");

    *value = NULL;
    if (status != OK || !moved) {
        return status;
    }
    *value = shared_get(name, act->r->pool);
    return *value ? OK : HTTP_BAD_REQUEST;
}

static int act_value(act_t *act)
{
    const char *name = query(act, "name", ""), *value, *last = shown(act, name);
    int status = look(act, name, query(act, "interest", NULL), &value);

    if (status == OK && value && (!last || strcmp(last, value))) {
        set_shown(act, name, value);
        ap_rputs(value, act->r);
    }
    return status;
}

static int act_rows(act_t *act)
{
    const char *name = query(act, "name", ""), *value, *last = shown(act, name);
    int status = look(act, name, query(act, "interest", NULL), &value);
    long n = last ? strtol(last, NULL, 10) : 0, end = status == OK && value ? strtol(value, NULL, 10) : 0;

    if (n < end) {
        set_shown(act, name, value);
    }
    while (n < end) {
        ap_rprintf(act->r, "%ld\n", ++n);
    }
    return status;
}

static int notify_after(act_t *act, const char *interest)
{
    apr_status_t rv = interest ? notify(interest) : APR_SUCCESS;

    return rv == APR_SUCCESS || rv == APR_NOTFOUND ? OK : HTTP_BAD_REQUEST;
}

static int act_set(act_t *act)
{
    if (shared_set(query(act, "name", ""), query(act, "value", "")) != APR_SUCCESS) {
        return HTTP_BAD_REQUEST;
    }
    return notify_after(act, query(act, "notify", NULL));
}

static int act_add(act_t *act)
{
    long now = shared_add(query(act, "name", ""), 1);

    if (now < 0) {
        return HTTP_BAD_REQUEST;
    }
    ap_rprintf(act->r, "%ld", now);
    if (query(act, "die", NULL)) {
        kill(getpid(), SIGKILL);
    }
    return notify_after(act, query(act, "notify", NULL));
}

static int act_get(act_t *act)
{
    const char *value = shared_get(query(act, "name", ""), act->r->pool);

    if (!value) {
        return HTTP_BAD_REQUEST;
    }
    ap_rputs(value, act->r);
    return OK;
}

static int act_numbers(act_t *act)
{
    int count = atoi(query(act, "count", "0"));

    for (int i = 0; i < count; i++) {
        const char *value = shared_get(apr_psprintf(act->r->pool, "#%d", i), act->r->pool);

        if (!value) {
            return HTTP_BAD_REQUEST;
        }
        ap_rprintf(act->r, "%s\n", value);
    }
    return OK;
}

static int write_header(void *baton, const char *name, const char *value)
{
    ap_rprintf((request_rec *)baton, "%s: %s\n", name, value);
    return 1;
}

static int act_said(act_t *act)
{
    const char *name = query(act, "name", NULL), *value = name ? apr_table_get(act->r->headers_in, name) : NULL;

    if (query(act, "body", NULL)) {
        ap_discard_request_body(act->r);
    }
    if (name) {
        ap_rputs(value ? value : "", act->r);
    }
    else {
        apr_table_do(write_header, act->r, act->r->headers_in, NULL);
    }
    return OK;
}

static int act_property(act_t *act)
{
    const char *key = query(act, "key", ""), *value = query(act, "value", NULL);
    apr_status_t rv = value ? page_set(act->r, key, value) : APR_SUCCESS;

    if (!value && (value = page_get(act->r, key))) {
        ap_rputs(value, act->r);
    }
    return rv == APR_SUCCESS ? OK : rv == APR_NOTFOUND ? HTTP_CONFLICT : HTTP_BAD_REQUEST;
}

static int act_notify(act_t *act)
{
    apr_status_t rv = notify(query(act, "interest", ""));

    if (rv != APR_SUCCESS && rv != APR_NOTFOUND) {
        return HTTP_BAD_REQUEST;
    }
    ap_rputs(rv == APR_SUCCESS ? "held" : "nobody", act->r);
    return OK;
}

static int act_wait(act_t *act)
{
    return OK;
}

static int act_open(act_t *act)
{
    return shared_barrier_open(query(act, "name", "")) == APR_SUCCESS ? OK : HTTP_BAD_REQUEST;
}

static int act_close(act_t *act)
{
    return shared_barrier_close(query(act, "name", "")) == APR_SUCCESS ? OK : HTTP_BAD_REQUEST;
}

static int act_arrived(act_t *act)
{
    ap_rprintf(act->r, "%ld", shared_barrier_arrived(query(act, "name", "")));
    return OK;
}

static int act_body(act_t *act)
{
    char buffer[8192];
    long n;
    int status = ap_setup_client_block(act->r, REQUEST_CHUNKED_DECHUNK);

    if (status != OK || !ap_should_client_block(act->r)) {
        return status;
    }
    while ((n = ap_get_client_block(act->r, buffer, sizeof(buffer))) > 0) {
        ap_rwrite(buffer, (int)n, act->r);
    }
    return n < 0 ? HTTP_BAD_REQUEST : OK;
}

static int act_redirect(act_t *act)
{
    ap_internal_redirect(query(act, "to", "/"), act->r);
    return OK;
}

static int act_inside(act_t *act)
{
    const char *name = query(act, "name", "");
    long now = shared_add(name, 1);

    apr_sleep(1000); /* so that others can come in, if they may */
    ap_rprintf(act->r, "%ld\n", now);
    return shared_add(name, -1) < 0 ? HTTP_BAD_REQUEST : OK;
}

static int act_include(act_t *act)
{
    const char *folder = query(act, "path", ap_make_dirstr_parent(act->r->pool, act->r->uri));
    int i, status = OK;

    for (i = 0; i < 2 && status == OK; i++) {
        const char *path = apr_pstrcat(act->r->pool, folder, "echo?text=%5Bin%5D", NULL);
        request_rec *rr = ap_sub_req_lookup_uri(path, act->r, act->r->output_filters);

        status = rr->status == HTTP_OK ? ap_run_sub_req(rr) : rr->status;
        ap_destroy_sub_req(rr);
    }
    return status;
}

static int act_kill(act_t *act)
{
    kill(getpid(), SIGKILL);
    return HTTP_INTERNAL_SERVER_ERROR;
}

static int act_damage(act_t *act)
{
    int count = damage_turn(query(act, "text", ""), atol(query(act, "at", "0")),
                            (unsigned char)atoi(query(act, "bits", "0")), act->r->pool);

    ap_rprintf(act->r, "%d", count);
    return count < 0 ? HTTP_INTERNAL_SERVER_ERROR : OK;
}

/** That the client is gone is not this handler's failure. */
static int act_flush(act_t *act)
{
    ap_rflush(act->r);
    return OK;
}

static int act_call(act_t *act)
{
    json_t *args = json_loads(query(act, "args", "{}"), JSON_ALLOW_NUL, NULL), *rows = NULL, *answer;
    const char *error = NULL;
    char *text;
    apr_status_t rv;

    if (!json_is_object(args)) {
        json_decref(args);
        return HTTP_BAD_REQUEST;
    }
    rv = feed_call(act->r, query(act, "feed", ""), query(act, "method", ""), args, &rows, &error);
    if (query(act, "news", NULL) && rv == APR_SUCCESS && !rows) {
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

/** The failure is the body of the answer, as an application may choose to say it. */
static int act_render(act_t *act)
{
    const char *text = query(act, "data", NULL), *error = NULL;
    json_t *data = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    vault_render_t what = {.file = query(act, "file", NULL),
                           .data = data,
                           .action = query(act, "action", NULL),
                           .target = query(act, "target", NULL)};
    apr_status_t rv = render(act->r, &what, &error);

    json_decref(data);
    if (rv == APR_SUCCESS) {
        return OK;
    }
    ap_rprintf(act->r, "%d %s", (int)rv, error);
    act->r->status = query(act, "ignore", NULL) ? HTTP_OK : HTTP_BAD_REQUEST;
    return OK;
}

static int act_show(act_t *act)
{
    vault_render_t what = {
        .file = query(act, "file", NULL), .action = query(act, "action", NULL), .target = query(act, "target", NULL)};
    json_t *args = json_object(), *rows = NULL;
    const char *error = NULL;
    apr_status_t rv = feed_call(act->r, query(act, "feed", ""), query(act, "method", ""), args, &rows, &error);

    json_decref(args);
    if (rv == APR_SUCCESS) {
        ap_rputs(is_reset(act->r, rows) ? "anew: " : "", act->r);
        what.data = rows;
        rv = render(act->r, &what, &error);
    }
    json_decref(rows);
    return rv == APR_SUCCESS ? OK : HTTP_INTERNAL_SERVER_ERROR;
}

/** The status that says why a long poll could not be added. */
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
 * @param said  what the page shows so far; grows */
static int add_view(act_t *act, int n, const char **said)
{
    const char *view = nth_query(act, "view", n), *value;
    int status = look(act, view, nth_query(act, "interest", n), &value);

    if (status == OK) {
        set_shown(act, view, value);
        *said = apr_pstrcat(act->r->pool, *said, n ? " " : "", value, NULL);
    }
    return status;
}

static int act_page(act_t *act)
{
    const char *said = "", *script;

    for (int n = 0; nth_query(act, "view", n); n++) {
        int status = add_view(act, n, &said);

        if (status != OK) {
            return status;
        }
    }
    for (int i = 0; i < act->query->nelts; i++) {
        query_t *q = &APR_ARRAY_IDX(act->query, i, query_t);
        apr_status_t rv = strcmp(q->name, "poll") ? APR_SUCCESS : add_long_poll(act->r, q->value);

        if (rv != APR_SUCCESS) {
            return refused(act, q->value, rv);
        }
    }
    script = page_script(act->r);
    ap_rprintf(act->r, "<!DOCTYPE html>\n<title>vault-test</title>\n%s\n<p id=\"view\">%s</p>\n", script ? script : "",
               ap_escape_html(act->r->pool, said));
    return query(act, "feed", NULL) ? act_call(act) : OK;
}

static const struct action_t {
    const char *name;
    const char *type;
    int (*act)(act_t *act);
} actions[] = {
    {"property", "text/plain", act_property}, {"said", "text/plain", act_said},
    {"add", "text/plain", act_add},           {"arrived", "text/plain", act_arrived},
    {"big", "text/plain", act_big},           {"broken", "text/html", act_broken},
    {"call", "application/json", act_call},   {"close", "text/plain", act_close},
    {"count", "text/html", act_count},        {"echo", "text/html", act_echo},
    {"flush", "text/html", act_flush},        {"get", "text/plain", act_get},
    {"kill", "text/plain", act_kill},         {"notify", "text/plain", act_notify},
    {"numbers", "text/plain", act_numbers},   {"open", "text/plain", act_open},
    {"page", "text/html", act_page},          {"pid", "text/plain", act_pid},
    {"render", "text/html", act_render},      {"rows", "text/html", act_rows},
    {"set", "text/plain", act_set},           {"show", "text/html", act_show},
    {"status", "text/html", act_status},      {"value", "text/html", act_value},
    {"wait", "text/plain", act_wait},         {"body", "text/plain", act_body},
    {"inside", "text/plain", act_inside},     {"include", "text/plain", act_include},
    {"redirect", "text/plain", act_redirect}, {"damage", "text/plain", act_damage},
};

static const struct action_t *find_action(const char *uri)
{
    const char *slash = strrchr(uri, '/');

    for (size_t i = 0; slash && i < sizeof actions / sizeof actions[0]; i++) {
        if (!strcmp(actions[i].name, slash + 1)) {
            return &actions[i];
        }
    }
    return NULL;
}

static void set_headers(act_t *act)
{
    for (int i = 0; i < act->query->nelts; i++) {
        query_t *q = &APR_ARRAY_IDX(act->query, i, query_t);
        int error = !strcmp(q->name, "err-header");
        const char *colon = strchr(q->value, ':');

        if (colon && (error || !strcmp(q->name, "header"))) {
            const char *name = apr_pstrmemdup(act->r->pool, q->value, (apr_size_t)(colon - q->value));
            apr_table_addn(error ? act->r->err_headers_out : act->r->headers_out, name, colon + 1);
        }
    }
}

/** The status that the query wants, when all has gone well so far. */
static int wanted_failure(act_t *act)
{
    const char *variable = query(act, "fail-as", NULL), *value = variable ? shared_get(variable, act->r->pool) : NULL;

    return atoi(value ? value : query(act, "fail", "0"));
}

static int handler(request_rec *r)
{
    const struct action_t *action;
    act_t act = {r, NULL};
    int status;

    if (!r->handler || strcmp(r->handler, "vault-test")) {
        return DECLINED;
    }
    action = find_action(r->uri);
    if (!action) {
        return HTTP_NOT_FOUND;
    }
    if (!add_long_poll || !page_script || !page_get || !page_set || !create_interest || !notify || !feed_call ||
        !is_reset || !render) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r,
                      "vault-test: mod_vault is not loaded, or lacks an optional function");
        return HTTP_NOT_IMPLEMENTED;
    }
    parse_query(&act);
    ap_set_content_type(r, apr_pstrdup(r->pool, query(&act, "type", action->type)));
    status = at_barrier(&act, "before");
    if (status == OK) {
        status = action->act(&act);
    }
    if (status == OK) {
        status = at_barrier(&act, "after");
    }
    set_headers(&act);
    return status == OK ? wanted_failure(&act) : status;
}

/** Where a connection stops when it is suspended: the names of barriers, or NULL. */
typedef struct stops_t {
    const char *before;
    const char *after;
} stops_t;

/** Kept with the connection, since the hooks below are not told the request. */
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

static void retrieve(void)
{
    add_long_poll = APR_RETRIEVE_OPTIONAL_FN(vault_add_long_poll);
    page_script = APR_RETRIEVE_OPTIONAL_FN(vault_page_script);
    page_get = APR_RETRIEVE_OPTIONAL_FN(vault_page_get);
    page_set = APR_RETRIEVE_OPTIONAL_FN(vault_page_set);
    create_interest = APR_RETRIEVE_OPTIONAL_FN(vault_create_interest);
    notify = APR_RETRIEVE_OPTIONAL_FN(vault_notify);
    feed_call = APR_RETRIEVE_OPTIONAL_FN(vault_feed_call);
    is_reset = APR_RETRIEVE_OPTIONAL_FN(vault_feed_is_reset);
    render = APR_RETRIEVE_OPTIONAL_FN(vault_render);
}

static int post_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp, server_rec *s)
{
    if (ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_CREATE_PRE_CONFIG) {
        return OK;
    }
    return shared_create(pconf) == APR_SUCCESS ? OK : HTTP_INTERNAL_SERVER_ERROR;
}

static void register_hooks(apr_pool_t *p)
{
    static const char *const vault[] = {"mod_vault.c", NULL};

    ap_hook_optional_fn_retrieve(retrieve, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_post_config(post_config, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_handler(handler, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_post_read_request(note_stops, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_suspend_connection(stop_before_suspending, NULL, vault, APR_HOOK_FIRST);
    ap_hook_suspend_connection(stop_after_suspending, vault, NULL, APR_HOOK_REALLY_LAST);
    suspend_hooks();
}

AP_DECLARE_MODULE(vault_test) = {
    STANDARD20_MODULE_STUFF,
    .register_hooks = register_hooks,
};
