/* SPDX-License-Identifier: Apache-2.0 */
/* Suspended requests, from the call that suspends to the one that wakes. What comes then is done in redispatch.c. */
#include "suspend/suspend.h"

#include "apr_optional_hooks.h"
#include "apr_strings.h"
#include "http_core.h"
#include "http_protocol.h"
#include "http_request.h"

#include "base/now.h"
#include "mod_vault/vault.h"
#include "server/log.h"
#include "server/server.h"
#include "server/thread_quota.h"
#include "suspend/park.h"
#include "suspend/redispatch.h"
#include "suspend/conn_ctx.h"
#include "suspend/wait_quota.h"

APLOG_USE_MODULE(vault);

/* A wait ends this long before the connection's Timeout would end it. */
#define MARGIN apr_time_from_sec(2)
/* What a client is told that could not wait. */
#define RETRY_AFTER "5"

#define END_CAUSES (VAULT_CAUSE_END | VAULT_CAUSE_STOP)

static ap_filter_rec_t *guard_filter;

/* -------------------------------------------------------------------- hooks */

/* An entry of APR_OPTIONAL_HOOK(). APR names this type only for hooks that this module declares as functions too. */
typedef struct hook_t {
    vault_HOOK_request_suspended_t *run;
    const char *module;
    const char *const *before, *const *after;
    int order;
} hook_t;

static void run_hooks(const char *name, request_rec *r)
{
    const apr_array_header_t *hooks = apr_optional_hook_get(name);
    int i;

    for (i = 0; hooks && i < hooks->nelts; i++) {
        APR_ARRAY_IDX(hooks, i, hook_t).run(r);
    }
}

/* -------------------------------------------------------------- output guard */

void vault_suspension_open_output(vault_suspension_t *s)
{
    if (s->guard) {
        ap_remove_output_filter(s->guard);
        s->guard = NULL;
    }
}

/* In front of all others, httpd's own for ap_rputs() among them, which would keep what is written for later. No
 * type of filter comes before that one. */
static void close_output(vault_suspension_t *s)
{
    request_rec *r = s->r;
    ap_filter_t **link;

    if (s->guard) {
        return;
    }
    s->guard = ap_add_output_filter_handle(guard_filter, s, r, r->connection);
    for (link = &r->output_filters; *link != s->guard; link = &(*link)->next) {
    }
    *link = s->guard->next;
    s->guard->next = r->output_filters;
    r->output_filters = s->guard;
}

/* While a request is suspended its response cannot be written. Its end passes, and completes the request: a
 * handler that has ended its output has nothing to run for again, whether it returns SUSPENDED or not. */
static apr_status_t guard_output(ap_filter_t *f, apr_bucket_brigade *bb)
{
    vault_suspension_t *s = f->ctx;
    const apr_bucket *b;

    for (b = APR_BRIGADE_FIRST(bb); b != APR_BRIGADE_SENTINEL(bb); b = APR_BUCKET_NEXT(b)) {
        if (APR_BUCKET_IS_EOS(b)) {
            ap_filter_t *next = f->next;
            vault_suspension_open_output(s);
            vault_request_complete(s->r);
            return ap_pass_brigade(next, bb);
        }
    }
    ap_log_rerror(APLOG_MARK, APLOG_DEBUG, 0, s->r, VLTNO(00201) "a suspended request cannot be written to: %s",
                  s->r->uri);
    apr_brigade_cleanup(bb);
    return APR_EBUSY;
}

/* -------------------------------------------------------------- suspensions */

/* Any thread: a request that waits is the first of the list, so the older ones are not read for it. */
vault_suspension_t *vault_suspension_find(const request_rec *r)
{
    const vault_conn_ctx_t *v = vault_conn_ctx_of(r->connection);
    vault_suspension_t *s = v ? __atomic_load_n(&v->suspensions, __ATOMIC_ACQUIRE) : NULL;

    while (s && s->r != r) {
        s = s->older;
    }
    return s;
}

int vault_suspension_is_on(const vault_suspension_t *s)
{
    return vault_wait_is_suspended(vault_wait_state(&s->waiter.state));
}

void vault_suspension_release(vault_suspension_t *s)
{
    if (s->thread) {
        s->thread = 0;
        vault_thread_quota_release();
    }
    vault_wait_quota_release(s);
    if (vault_server->waiters && (s->known || s->waiter.wakeup >= 0)) {
        vault_waiter_close(vault_server->waiters, &s->waiter);
    }
}

void vault_suspension_revoke(vault_suspension_t *s)
{
    vault_suspension_open_output(s);
    if (vault_server->waiters) {
        vault_waiter_close(vault_server->waiters, &s->waiter);
    }
    s->waiter.causes = 0;
    ap_log_rerror(APLOG_MARK, APLOG_DEBUG, 0, s->r,
                  VLTNO(00202) "a handler suspended the request and did not return SUSPENDED: %s", s->r->uri);
}

/* Without waiters the request is in no list: the child has ended. */
static vault_wait_action_t step(vault_suspension_t *s, vault_wait_event_t event)
{
    return vault_server->waiters ? vault_waiter_step(vault_server->waiters, &s->waiter, event)
                                 : vault_wait_step(&s->waiter.state, event);
}

/* No client reads what would be written. */
static void drop_output(vault_suspension_t *s)
{
    vault_suspension_open_output(s);
    s->r->connection->aborted = 1;
    s->r->connection->keepalive = AP_CONN_CLOSE;
}

/* A child of the prefork MPM ends in a signal handler, which may have interrupted anything: no hook runs there. */
int vault_suspension_end(vault_suspension_t *s, vault_wait_event_t event)
{
    vault_wait_action_t action = step(s, event);

    if (action == VAULT_DO_NOTHING) {
        return 0;
    }
    if (action == VAULT_DO_ABANDON) {
        vault_tally(gone, 1);
    }
    if (event == VAULT_ON_HANG_UP) {
        drop_output(s);
    }
    vault_suspension_release(s);
    if (s->known && !vault_server->ends) {
        run_hooks("request_completed", s->r);
    }
    return 1;
}

void vault_suspension_park(vault_suspension_t *s)
{
    if (vault_wait_step(&s->waiter.state, VAULT_ON_PARK) == VAULT_DO_LEAVE) {
        run_hooks("request_suspended", s->r);
    }
}

/* The request's pool is destroyed. */
static apr_status_t pool_goes(void *data)
{
    vault_suspension_t *s = data, **link;

    vault_suspension_end(s, VAULT_ON_END);
    for (link = &vault_conn_ctx_of(s->r->connection)->suspensions; *link; link = &(*link)->older) {
        if (*link == s) {
            __atomic_store_n(link, s->older, __ATOMIC_RELEASE);
            break;
        }
    }
    return APR_SUCCESS;
}

static void make_known(vault_suspension_t *s)
{
    vault_conn_ctx_t *v = vault_conn_ctx_make(s->r->connection);

    if (!s->known) {
        s->known = 1;
        s->older = v->suspensions;
        apr_pool_pre_cleanup_register(s->r->pool, s, pool_goes);
        __atomic_store_n(&v->suspensions, s, __ATOMIC_RELEASE);
    }
}

vault_suspension_t *vault_suspension_make(request_rec *r)
{
    vault_suspension_t *s = vault_suspension_find(r);

    if (!s) {
        s = apr_pcalloc(r->pool, sizeof(*s));
        s->r = r;
        s->waiter.wakeup = -1;
        s->waiter.in_thread = !vault_park_usable(r);
    }
    return s;
}

apr_status_t vault_suspension_prepare(vault_suspension_t *s)
{
    return vault_server->waiters && s->waiter.wakeup < 0 ? vault_waiter_open(vault_server->waiters, &s->waiter)
                                                         : APR_SUCCESS;
}

apr_interval_time_t vault_suspension_longest(const request_rec *r)
{
    apr_interval_time_t most = r->server->timeout;

    if (r->connection->base_server->timeout < most) {
        most = r->connection->base_server->timeout;
    }
    return most > 2 * MARGIN ? most - MARGIN : most / 2;
}

/* --------------------------------------------------------------- suspending */

/* The waiter is attached, so it counts itself. A request that has waited before keeps its place. */
static int has_room(const vault_suspension_t *s)
{
    return s->known || vault_waiters_count(vault_server->waiters) <= vault_server->max_waiting;
}

/* A request that is woken, runs and waits again keeps its thread all the time. */
static int enter_thread(vault_suspension_t *s)
{
    if (s->thread) {
        return 1;
    }
    s->thread = vault_thread_quota_take();
    return s->thread;
}

apr_status_t vault_suspension_wait(vault_suspension_t *s, void *poll)
{
    if (!has_room(s) || (s->waiter.in_thread && !enter_thread(s)) || !vault_wait_quota_take(s)) {
        if (!s->known) {
            vault_suspension_release(s); /* it has never waited, so nothing else releases what it has */
        }
        return APR_EAGAIN;
    }
    make_known(s);
    s->handler = s->r->handler;
    s->poll = poll;
    vault_waiter_finish(vault_server->waiters, &s->waiter);
    return APR_SUCCESS;
}

static apr_status_t refuse(request_rec *r, apr_status_t rv, const char *why)
{
    ap_log_rerror(APLOG_MARK, APLOG_DEBUG, 0, r, VLTNO(00200) "the request cannot be suspended: %s: %s", why, r->uri);
    if (rv == APR_EAGAIN) {
        vault_tally(refused, 1);
        apr_table_setn(r->err_headers_out, "Retry-After", RETRY_AFTER);
    }
    return rv;
}

static int is_in_error(const request_rec *r)
{
    for (r = r->prev; r; r = r->prev) {
        if (ap_is_HTTP_ERROR(r->status)) {
            return 1;
        }
    }
    return 0;
}

/* @return NULL, or why not */
static const char *may_suspend(const request_rec *r, apr_status_t *rv)
{
    *rv = APR_ENOTIMPL;
    if (r->main) {
        return "it is a subrequest";
    }
    if (is_in_error(r)) {
        return "it is the answer to an error";
    }
    *rv = APR_EINIT;
    if (!vault_redispatch_is_running(r) || r->eos_sent) {
        return "this thread does not run a handler of it";
    }
    *rv = APR_ECONNABORTED;
    return r->connection->aborted ? "its client is gone" : NULL;
}

/* @param wait  an interest that wakes it; NULL: none */
static apr_status_t suspend(request_rec *r, apr_interval_time_t timeout, int outlasts, vault_wait_t *wait)
{
    vault_suspension_t *s;
    apr_status_t rv;

    if (!vault_server->waiters) {
        return refuse(r, APR_EAGAIN, "nothing can wait in this process");
    }
    s = vault_suspension_make(r);
    if ((rv = vault_suspension_prepare(s)) != APR_SUCCESS) {
        return refuse(r, rv, "no descriptor is left for its eventfd");
    }
    s->waiter.due = s->waiter.end = vault_now() + timeout;
    s->waiter.outlasts = outlasts;
    if (!vault_waiter_attach(vault_server->waiters, &s->waiter, wait, wait != NULL)) {
        vault_waiter_close(vault_server->waiters, &s->waiter);
        return refuse(r, APR_TIMEUP, "this child ends");
    }
    if ((rv = vault_suspension_wait(s, NULL)) != APR_SUCCESS) {
        vault_waiter_close(vault_server->waiters, &s->waiter);
        return refuse(r, rv, "too many wait");
    }
    if (wait) {
        vault_interest_arm(vault_server->notifier, wait->interest, vault_server->slot);
    }
    close_output(s);
    return APR_SUCCESS;
}

static apr_status_t suspend_or_shorten(request_rec *r, apr_interval_time_t timeout, int outlasts, vault_wait_t *wait)
{
    apr_interval_time_t longest = vault_suspension_longest(r);
    vault_suspension_t *s;
    apr_status_t rv;
    const char *why = timeout > 0 ? may_suspend(r, &rv) : "the time-out is not above 0";

    if (why) {
        return refuse(r, timeout > 0 ? rv : APR_EINVAL, why);
    }
    timeout = timeout < longest ? timeout : longest;
    s = vault_suspension_find(r);
    if (s && vault_suspension_is_on(s)) {
        vault_waiter_shorten(vault_server->waiters, &s->waiter, vault_now() + timeout);
        return APR_SUCCESS;
    }
    return suspend(r, timeout, outlasts, wait);
}

apr_status_t vault_request_suspend(request_rec *r, apr_interval_time_t timeout)
{
    return suspend_or_shorten(r, timeout, 0, NULL);
}

apr_status_t vault_suspension_outlast(request_rec *r, apr_interval_time_t timeout)
{
    return suspend_or_shorten(r, timeout, 1, NULL);
}

apr_status_t vault_suspension_await(request_rec *r, apr_interval_time_t timeout, vault_interest_t interest)
{
    vault_wait_t *wait = apr_pcalloc(r->pool, sizeof(*wait));

    wait->interest = interest;
    return suspend_or_shorten(r, timeout, 1, wait);
}

/* ------------------------------------------------------- from other threads */

static apr_status_t wake(request_rec *r, unsigned cause)
{
    vault_suspension_t *s = vault_suspension_find(r);
    unsigned causes = s && vault_suspension_is_on(s) ? vault_waiter_wake(vault_server->waiters, &s->waiter, cause) : 0;

    return !causes ? APR_NOTFOUND : causes & cause ? APR_SUCCESS : APR_EEXIST;
}

apr_status_t vault_request_resume(request_rec *r)
{
    return wake(r, VAULT_CAUSE_RESUME);
}

apr_status_t vault_request_complete(request_rec *r)
{
    return wake(r, VAULT_CAUSE_COMPLETE);
}

int vault_request_is_suspended(const request_rec *r)
{
    const vault_suspension_t *s = vault_suspension_find(r);

    return s && vault_suspension_is_on(s);
}

int vault_request_is_timeout(const request_rec *r)
{
    const vault_suspension_t *s = vault_suspension_find(r);

    return s && !vault_suspension_is_on(s) && (s->waiter.causes & END_CAUSES) &&
           !(s->waiter.causes & VAULT_CAUSE_RESUME);
}

int vault_request_is_resumed(const request_rec *r)
{
    const vault_suspension_t *s = vault_suspension_find(r);

    return s && !vault_suspension_is_on(s) && s->waiter.causes && !vault_request_is_timeout(r);
}

void vault_suspension_settle(const request_rec *r)
{
    vault_suspension_t *s = vault_suspension_find(r);

    if (s && !vault_suspension_is_on(s)) {
        s->waiter.causes = 0;
        vault_suspension_release(s);
    }
}

void *vault_suspension_woken(const request_rec *r)
{
    vault_suspension_t *s = vault_suspension_find(r);
    void *poll = s && !vault_suspension_is_on(s) ? s->poll : NULL;

    if (poll) {
        s->poll = NULL;
    }
    return poll;
}

void vault_suspension_resumed(vault_suspension_t *s)
{
    run_hooks("request_resumed", s->r);
}

void vault_suspension_end_all(void)
{
    vault_waiter_t *waiter;

    while ((waiter = vault_waiters_any(vault_server->waiters))) {
        vault_suspension_end((vault_suspension_t *)waiter, VAULT_ON_END);
    }
}

void vault_suspension_hooks(void)
{
    guard_filter = ap_register_output_filter("VAULT_SUSPENDED", guard_output, NULL, AP_FTYPE_RESOURCE);
}
