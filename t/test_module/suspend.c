/* SPDX-License-Identifier: Apache-2.0 */
/* A module that suspends requests, as vault.h says, and against what it says.
 *
 * The handler `vault-suspend-test` suspends the request as its query tells, and says in the end what happened to it:
 *
 *   name=N         the request's name: for those who call it, and for the variables N-suspended, N-resumed and N-completed, which
 *                  count the hooks, and N-calls
 *   timeout=MS     the time-out (20000)
 *   shorter=MS     suspends once more in the same run, with this time-out
 *   runs=K         suspends in each run but the last of K (2)
 *   calls=LIST     resume,complete,…: called by a thread of the module when a request opens the barrier N; what they return is N-calls.
 *                  The barrier is opened also when the request needs no call any more: the thread then finds no request
 *   early=LIST     the same in the handler, before it returns
 *   before=N       writes N bytes, not flushed, before it suspends
 *   say=T          writes T, flushed, before it suspends
 *   while=T        writes T while it is suspended, and flushes
 *   end=T          writes T while it is suspended, and ends its output
 *   answers=N      returns N where SUSPENDED belongs
 *   later=N        when it is called again: returns N at once
 *   in=PLACE       suspends in `fixup`, `log`, `thread` (another one) or `sub` (a subrequest): what that answers is N-place
 *   body=1         reads the body of the request when it goes on, and writes it
 *   bytes=N        writes so many bytes when it goes on
 *
 * Any request with the header X-Throttle: N is suspended before its own handler has seen it, in a hook before all others, until a request
 * opens the barrier N; then that handler has it. X-Throttle-Time: MS is the time-out, 503. Behind a proxy the header does not count.
 */
#include "suspend.h"

#include "httpd.h"
#include "http_config.h"
#include "http_core.h"
#include "http_log.h"
#include "http_protocol.h"
#include "http_request.h"
#include "util_script.h"

#include "apr_optional_hooks.h"
#include "apr_strings.h"

#include <pthread.h>
#include <stdlib.h>

#include "mod_vault/vault.h"
#include "shared.h"

extern module AP_MODULE_DECLARE_DATA vault_test_module;
APLOG_USE_MODULE(vault_test);

static APR_OPTIONAL_FN_TYPE(vault_request_suspend) * request_suspend;
static APR_OPTIONAL_FN_TYPE(vault_request_resume) * request_resume;
static APR_OPTIONAL_FN_TYPE(vault_request_complete) * request_complete;
static APR_OPTIONAL_FN_TYPE(vault_request_is_suspended) * is_suspended;
static APR_OPTIONAL_FN_TYPE(vault_request_is_resumed) * is_resumed;
static APR_OPTIONAL_FN_TYPE(vault_request_is_timeout) * is_timeout;

/** A request of this module; in its pool. */
typedef struct guest_t {
    request_rec *r;
    const char *name;
    apr_table_t *query;
    int runs;
    int throttled; /* 1: suspended by its header only */
    const char *suspends, *calls, *wrote;
    int listed; /* lock */
    struct guest_t *next;
} guest_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static guest_t *guests; /* lock */

static const char *name_of(apr_status_t rv)
{
    return rv == APR_SUCCESS        ? "ok"
           : rv == APR_EINVAL       ? "einval"
           : rv == APR_EINIT        ? "einit"
           : rv == APR_ENOTIMPL     ? "enotimpl"
           : rv == APR_EAGAIN       ? "eagain"
           : rv == APR_TIMEUP       ? "timeup"
           : rv == APR_ECONNABORTED ? "econnaborted"
           : rv == APR_NOTFOUND     ? "notfound"
           : rv == APR_EEXIST       ? "eexist"
                                    : "other";
}

static const char *asked(const guest_t *g, const char *key, const char *fallback)
{
    const char *value = apr_table_get(g->query, key);

    return value ? value : fallback;
}

static guest_t *guest_of(const request_rec *r)
{
    return ap_get_module_config(r->request_config, &vault_test_module);
}

static guest_t *make_guest(request_rec *r, const char *name)
{
    guest_t *g = apr_pcalloc(r->pool, sizeof(*g));

    g->r = r;
    ap_args_to_table(r, &g->query);
    g->name = name ? name : asked(g, "name", "nobody");
    g->suspends = g->calls = g->wrote = "";
    ap_set_module_config(r->request_config, &vault_test_module, g);
    return g;
}

static void count(const guest_t *g, const char *what)
{
    shared_add(apr_pstrcat(g->r->pool, g->name, "-", what, NULL), 1);
}

/* ------------------------------------------------------------------- the list */

static void enlist(guest_t *g)
{
    pthread_mutex_lock(&lock);
    if (!g->listed) {
        g->listed = 1;
        g->next = guests;
        guests = g;
    }
    pthread_mutex_unlock(&lock);
}

static void strike(guest_t *g)
{
    guest_t **link;

    pthread_mutex_lock(&lock);
    for (link = &guests; *link; link = &(*link)->next) {
        if (*link == g) {
            *link = g->next;
            g->listed = 0;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

/* A request in the list exists as long as the lock is held. */
static apr_status_t call(const char *name, const char *what)
{
    apr_status_t rv = APR_EGENERAL;
    guest_t *g;

    pthread_mutex_lock(&lock);
    for (g = guests; g; g = g->next) {
        if (!strcmp(g->name, name)) {
            rv = !strcmp(what, "complete") ? request_complete(g->r) : request_resume(g->r);
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return rv;
}

static const char *call_all(const char *name, const char *list, apr_pool_t *pool)
{
    char *rest = apr_pstrdup(pool, list), *state, *what;
    const char *said = "";

    for (what = apr_strtok(rest, ",", &state); what; what = apr_strtok(NULL, ",", &state)) {
        said = apr_pstrcat(pool, said, *said ? "," : "", name_of(call(name, what)), NULL);
    }
    return said;
}

/* -------------------------------------------------------------------- callers */

typedef struct caller_t {
    char *name, *list;
} caller_t;

static void *call_later(void *baton)
{
    caller_t *c = baton;
    apr_pool_t *pool;

    apr_pool_create_unmanaged_ex(&pool, NULL, NULL);
    if (shared_barrier_wait(c->name) == APR_SUCCESS) {
        shared_set(apr_pstrcat(pool, c->name, "-calls", NULL), call_all(c->name, c->list, pool));
    }
    apr_pool_destroy(pool);
    free(c->name);
    free(c->list);
    free(c);
    return NULL;
}

static void start_caller(const char *name, const char *list)
{
    caller_t *c = calloc(1, sizeof(*c));
    pthread_t thread;

    c->name = strdup(name);
    c->list = strdup(list);
    if (!pthread_create(&thread, NULL, call_later, c)) {
        pthread_detach(thread);
    }
}

/* ------------------------------------------------------------------ the handler */

static apr_status_t suspend(guest_t *g, const char *timeout)
{
    apr_status_t rv = request_suspend(g->r, apr_atoi64(timeout) * 1000);

    g->suspends = apr_pstrcat(g->r->pool, g->suspends, *g->suspends ? "," : "", name_of(rv), NULL);
    return rv;
}

static void write_meanwhile(guest_t *g)
{
    const char *text = asked(g, "while", NULL);

    if (text) {
        int wrote = ap_rputs(text, g->r), flushed = ap_rflush(g->r);
        g->wrote = apr_psprintf(g->r->pool, "%d,%d", wrote, flushed);
    }
}

static void write_bytes(request_rec *r, long bytes)
{
    static const char block[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    for (; bytes > 0; bytes -= 64) {
        ap_rwrite(block, bytes < 64 ? (int)bytes : 64, r);
    }
}

static void end_meanwhile(const guest_t *g)
{
    const char *text = asked(g, "end", NULL);
    apr_bucket_alloc_t *ba = g->r->connection->bucket_alloc;
    apr_bucket_brigade *bb;

    if (text) {
        bb = apr_brigade_create(g->r->pool, ba);
        apr_brigade_puts(bb, NULL, NULL, text);
        APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_eos_create(ba));
        ap_pass_brigade(g->r->output_filters, bb);
    }
}

#define REFUSED (-1000)

/** @return what the handler returns, or REFUSED: it was not suspended, answer at once */
static int suspend_and_wait(guest_t *g)
{
    const char *calls = asked(g, "calls", NULL), *early = asked(g, "early", NULL), *shorter = asked(g, "shorter", NULL),
               *say = asked(g, "say", NULL);
    apr_status_t rv;

    write_bytes(g->r, g->runs == 1 ? atol(asked(g, "before", "0")) : 0);
    if (say) {
        ap_rputs(say, g->r);
        ap_rflush(g->r);
    }
    if (g->runs > 1 && asked(g, "later", NULL)) {
        return atoi(asked(g, "later", NULL));
    }
    rv = suspend(g, asked(g, "timeout", "20000"));
    if (rv != APR_SUCCESS) {
        return rv == APR_EAGAIN ? HTTP_SERVICE_UNAVAILABLE : REFUSED;
    }
    if (shorter) {
        suspend(g, shorter);
    }
    g->wrote = is_suspended(g->r) ? "" : "it is not suspended";
    write_meanwhile(g);
    end_meanwhile(g);
    enlist(g);
    if (early) {
        g->calls = call_all(g->name, early, g->r->pool);
        shared_set(apr_pstrcat(g->r->pool, g->name, "-state", NULL),
                   apr_psprintf(g->r->pool, "%d %d", is_suspended(g->r), is_resumed(g->r)));
    }
    if (calls && g->runs == 1) {
        start_caller(g->name, calls);
    }
    return asked(g, "answers", NULL) ? atoi(asked(g, "answers", NULL)) : SUSPENDED;
}

static int write_body(request_rec *r)
{
    char buffer[4096];
    long n;
    int status = ap_setup_client_block(r, REQUEST_CHUNKED_DECHUNK);

    if (status != OK) {
        return status;
    }
    ap_rputs(" body=", r);
    if (!ap_should_client_block(r)) {
        return OK;
    }
    while ((n = ap_get_client_block(r, buffer, sizeof(buffer))) > 0) {
        ap_rwrite(buffer, (int)n, r);
    }
    return OK;
}

/** Reports what has happened. */
static int answer(guest_t *g)
{
    request_rec *r = g->r;
    long bytes = atol(asked(g, "bytes", "0"));

    ap_set_content_type(r, "text/plain");
    ap_rprintf(r, "runs=%d suspended=%d resumed=%d timeout=%d suspends=%s calls=%s wrote=%s", g->runs, is_suspended(r),
               is_resumed(r), is_timeout(r), g->suspends, g->calls, g->wrote);
    if (asked(g, "body", NULL)) {
        return write_body(r);
    }
    write_bytes(r, bytes);
    return OK;
}

/* ---------------------------------------------------------------- wrong places */

static void note_place(request_rec *r, apr_status_t rv)
{
    const guest_t *g = guest_of(r->main ? r->main : r);

    shared_set(apr_pstrcat(r->pool, g->name, "-place", NULL), name_of(rv));
}

static void *suspend_from_thread(void *baton)
{
    note_place(baton, request_suspend(baton, apr_time_from_sec(1)));
    return NULL;
}

static void suspend_elsewhere(guest_t *g, const char *place)
{
    pthread_t thread;

    if (!strcmp(place, "thread") && !pthread_create(&thread, NULL, suspend_from_thread, g->r)) {
        pthread_join(thread, NULL);
    }
    if (!strcmp(place, "sub")) {
        request_rec *sub = ap_sub_req_lookup_uri("/suspend/sub", g->r, g->r->output_filters);
        ap_run_sub_req(sub);
        ap_destroy_sub_req(sub);
    }
}

static int fixup(request_rec *r)
{
    guest_t *g;

    if (!r->handler || strcmp(r->handler, "vault-suspend-test") || r->main || !request_suspend) {
        return DECLINED;
    }
    g = make_guest(r, NULL);
    if (!strcmp(asked(g, "in", ""), "fixup")) {
        note_place(r, request_suspend(r, apr_time_from_sec(1)));
    }
    return DECLINED;
}

static int log_request(request_rec *r)
{
    guest_t *g = guest_of(r);

    if (g && !strcmp(asked(g, "in", ""), "log")) {
        note_place(r, request_suspend(r, apr_time_from_sec(1)));
    }
    return DECLINED;
}

static int handler(request_rec *r)
{
    guest_t *g;
    int status;

    if (!r->handler || strcmp(r->handler, "vault-suspend-test")) {
        return DECLINED;
    }
    if (!request_suspend) {
        return HTTP_NOT_IMPLEMENTED;
    }
    if (r->main) {
        note_place(r, request_suspend(r, apr_time_from_sec(1)));
        return OK;
    }
    g = guest_of(r);
    strike(g);
    g->runs++;
    suspend_elsewhere(g, asked(g, "in", ""));
    if (g->runs >= atoi(asked(g, "runs", "2"))) {
        return answer(g);
    }
    status = suspend_and_wait(g);
    return status == REFUSED ? answer(g) : status;
}

/* ------------------------------------------------------------------ the throttle */

static int throttle(request_rec *r)
{
    const char *name = apr_table_get(r->headers_in, "X-Throttle"),
               *time = apr_table_get(r->headers_in, "X-Throttle-Time");
    guest_t *g = guest_of(r);

    if (!name || apr_table_get(r->headers_in, "X-Forwarded-For") || r->main || r->prev || !request_suspend ||
        (g && g->runs)) {
        if (g && g->throttled && g->runs == 1) {
            strike(g);
            g->runs++;
            return is_timeout(r) ? HTTP_SERVICE_UNAVAILABLE : DECLINED;
        }
        return DECLINED;
    }
    g = make_guest(r, name);
    g->throttled = 1;
    g->runs = 1;
    if (suspend(g, time ? time : "20000") != APR_SUCCESS) {
        return HTTP_SERVICE_UNAVAILABLE;
    }
    enlist(g);
    start_caller(name, "resume");
    return SUSPENDED;
}

/* -------------------------------------------------------------------- hooks */

static void note_suspended(request_rec *r)
{
    guest_t *g = guest_of(r);

    if (g) {
        count(g, "suspended");
    }
}

static void note_resumed(request_rec *r)
{
    guest_t *g = guest_of(r);

    if (g) {
        count(g, "resumed");
    }
}

static void note_completed(request_rec *r)
{
    guest_t *g = guest_of(r);

    if (g) {
        strike(g);
        count(g, "completed");
        ap_log_error(APLOG_MARK, APLOG_DEBUG, 0, r->server, "vault-test: %s is completed", g->name);
    }
}

static void retrieve(void)
{
    request_suspend = APR_RETRIEVE_OPTIONAL_FN(vault_request_suspend);
    request_resume = APR_RETRIEVE_OPTIONAL_FN(vault_request_resume);
    request_complete = APR_RETRIEVE_OPTIONAL_FN(vault_request_complete);
    is_suspended = APR_RETRIEVE_OPTIONAL_FN(vault_request_is_suspended);
    is_resumed = APR_RETRIEVE_OPTIONAL_FN(vault_request_is_resumed);
    is_timeout = APR_RETRIEVE_OPTIONAL_FN(vault_request_is_timeout);
}

void suspend_hooks(void)
{
    ap_hook_optional_fn_retrieve(retrieve, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_fixups(fixup, NULL, NULL, APR_HOOK_LAST);
    ap_hook_handler(throttle, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_handler(handler, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_log_transaction(log_request, NULL, NULL, APR_HOOK_MIDDLE);
    APR_OPTIONAL_HOOK(vault, request_suspended, note_suspended, NULL, NULL, APR_HOOK_MIDDLE);
    APR_OPTIONAL_HOOK(vault, request_resumed, note_resumed, NULL, NULL, APR_HOOK_MIDDLE);
    APR_OPTIONAL_HOOK(vault, request_completed, note_completed, NULL, NULL, APR_HOOK_MIDDLE);
}
