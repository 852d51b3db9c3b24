/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the handlers of requests that may be suspended: again when one is woken, and from the first time on where a
 * request waits in its thread.
 */
#include "suspend/redispatch.h"

#include <poll.h>

#include "apr_portable.h"
#include "http_core.h"
#include "http_protocol.h"
#include "http_request.h"
#include "scoreboard.h"

#include "base/now.h"
#include "request/request_line.h"
#include "server/log.h"
#include "server/server.h"
#include "suspend/park.h"

APLOG_USE_MODULE(vault);

/* Before all hooks of other modules, those that are REALLY_FIRST included. */
#define BEFORE_ALL (APR_HOOK_REALLY_FIRST - 20)

/* The request whose handlers this thread runs. Only compared with: it may be gone. */
static __thread const request_rec *handling;
/* The request whose handlers are run by wait_in_thread() in this thread. */
static __thread const request_rec *kept;

int vault_redispatch_is_running(const request_rec *r)
{
    return handling == r;
}

/* ------------------------------------------------------------------ going on */

/* The body may not have been read, so this must read nothing: it asks for the state of the connection only. */
int vault_redispatch_client_gone(const request_rec *r)
{
    struct pollfd p = {.fd = -1, .events = POLLRDHUP};
    conn_rec *c = r->connection;

    if (c->aborted || c->master) {
        return c->aborted;
    }
    apr_os_sock_get(&p.fd, ap_get_conn_socket(c));
    return poll(&p, 1, 0) > 0;
}

static int is_answer(int status)
{
    return status == OK || status == DONE || status == SUSPENDED || status == AP_FILTER_ERROR ||
           ap_is_HTTP_VALID_RESPONSE(status);
}

/* As ap_invoke_handler() does, but for the filters, which are there. */
static int run_handlers(request_rec *r, const char *handler)
{
    static apr_time_t said;
    const char *before = r->handler;
    int status, level;

    r->handler = handler;
    status = ap_run_handler(r);
    r->handler = before;
    if (status == DECLINED) {
        level = vault_log_seldom(&said, vault_now(), APLOG_WARNING);
        ap_log_rerror(APLOG_MARK, level, 0, r, VLTNO(00203) "no handler took the request for %s (handler \"%s\")",
                      r->uri, handler ? handler : "");
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    if (!is_answer(status)) {
        level = vault_log_seldom(&said, vault_now(), APLOG_ERR);
        ap_log_rerror(APLOG_MARK, level, 0, r, VLTNO(00205) "a handler returned %d, which is no answer: %s", status,
                      r->uri);
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    return status;
}

/* The handlers have returned for good, or do not run again. */
static int finish(vault_suspension_t *s, int status)
{
    if (vault_suspension_is_on(s)) {
        vault_suspension_revoke(s);
    }
    vault_suspension_end(s, VAULT_ON_END);
    return status;
}

static vault_redispatch_t answered(int *status, int answer)
{
    *status = answer;
    return VAULT_REDISPATCH_ANSWERED;
}

static vault_redispatch_t run_again(vault_suspension_t *s, int *status)
{
    static apr_time_t said;
    request_rec *r = s->r;
    int answer, level;

    vault_request_line_show(r, SERVER_BUSY_WRITE);
    vault_suspension_resumed(s);
    answer = run_handlers(r, s->handler);
    if (answer != SUSPENDED) {
        return answered(status, finish(s, answer));
    }
    if (vault_suspension_is_on(s)) {
        vault_suspension_park(s);
        return VAULT_REDISPATCH_WAITS_AGAIN;
    }
    level = vault_log_seldom(&said, vault_now(), APLOG_ERR);
    ap_log_rerror(APLOG_MARK, level, 0, r,
                  VLTNO(00204) "a handler returned SUSPENDED and has not suspended the request: %s", r->uri);
    return answered(status, finish(s, HTTP_INTERNAL_SERVER_ERROR));
}

/* Take the request from those that wait, or end it. A request that was not woken waits on, unless its client has
 * hung up; if it is woken just then, it is taken after all. The dispatcher looks itself why it was woken, so its
 * polls are taken in any case. */
static vault_wait_action_t collect(vault_suspension_t *s)
{
    vault_wait_event_t event = s->poll ? VAULT_ON_TAKE : VAULT_ON_COLLECT;
    vault_wait_action_t action = vault_waiter_step(vault_server->waiters, &s->waiter, event);

    if (action == VAULT_DO_KEEP && vault_redispatch_client_gone(s->r)) {
        action = vault_suspension_end(s, VAULT_ON_HANG_UP)
                     ? VAULT_DO_ABANDON
                     : vault_waiter_step(vault_server->waiters, &s->waiter, event);
    }
    return action;
}

vault_redispatch_t vault_redispatch(vault_suspension_t *s, int *status)
{
    switch (collect(s)) {
    case VAULT_DO_RUN:
        break;
    case VAULT_DO_ABANDON:
        return answered(status, OK);
    default:
        return VAULT_REDISPATCH_WAITS_ON;
    }
    vault_suspension_open_output(s);
    if ((s->waiter.causes & VAULT_CAUSE_COMPLETE) && !s->poll) {
        return answered(status, finish(s, OK));
    }
    return run_again(s, status);
}

/* ----------------------------------------------------------------- in a thread */

/* Handlers write data and notify. If a child of the prefork MPM, or one with threads of mod_http2, ends while they
 * run, it has not left in order. httpd waits for the handlers in its own threads. */
static void count_in(void)
{
    vault_server_enter_handlers();
}

static void count_out(void)
{
    vault_server_leave_handlers();
}

static void sleep_until_woken(vault_suspension_t *s)
{
    conn_rec *c = s->r->connection;
    apr_os_sock_t fd = -1;

    if (!c->master) {
        apr_os_sock_get(&fd, ap_get_conn_socket(c));
    }
    count_out();
    vault_waiter_sleep(&s->waiter, fd, s->poll != NULL);
    count_in();
}

/* httpd keeps an earlier answer on the same connection back while it handles the next request, which is this one.
 * A stream that waits until its client takes more has flushed before. */
static void flush(const vault_suspension_t *s)
{
    conn_rec *c = s->r->connection;
    apr_bucket_brigade *bb;

    if (c->master || s->waiter.writes) {
        return;
    }
    bb = apr_brigade_create(s->r->pool, c->bucket_alloc);
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_flush_create(c->bucket_alloc));
    ap_pass_brigade(c->output_filters, bb);
    apr_brigade_destroy(bb);
}

/* Sleep until the handlers have been run again. */
static vault_redispatch_t sleep_and_run(vault_suspension_t *s, int *status)
{
    vault_redispatch_t result;

    flush(s);
    do {
        sleep_until_woken(s);
        result = vault_redispatch(s, status);
    } while (result == VAULT_REDISPATCH_WAITS_ON);
    return result;
}

/* The handlers of a request that cannot be parked: where one is suspended, wait here and run them again. */
static int wait_in_thread(request_rec *r)
{
    const request_rec *outer = kept;
    vault_suspension_t *s;
    int status;

    kept = r;
    count_in();
    status = run_handlers(r, r->handler);
    s = vault_suspension_find(r);
    if (s && status != SUSPENDED) {
        finish(s, status);
    }
    else if (s && vault_suspension_is_on(s)) {
        vault_suspension_park(s);
        while (sleep_and_run(s, &status) != VAULT_REDISPATCH_ANSWERED) {
        }
    }
    count_out();
    kept = outer;
    return status;
}

/* @return DECLINED: on to the handlers */
static int before_handlers(request_rec *r)
{
    int status;

    if (r->main) {
        return DECLINED;
    }
    handling = r;
    if (kept == r || !vault_server->waiters || vault_park_usable(r)) {
        return DECLINED;
    }
    status = wait_in_thread(r);
    handling = NULL;
    return status;
}

/* Another request may come to lie where one was that this thread has run. */
static int forget_handling(request_rec *r)
{
    handling = NULL;
    return DECLINED;
}

void vault_redispatch_hooks(void)
{
    ap_hook_post_read_request(forget_handling, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_handler(before_handlers, NULL, NULL, BEFORE_ALL);
}
