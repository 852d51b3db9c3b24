/* SPDX-License-Identifier: Apache-2.0 */
/* One poll, from its request to its answer.
 *
 *   take the page -> look at its committed state -> attach and arm -> nothing moved? wait -> woken: look again
 *                                                                  -> something moved? run the methods that moved
 *   -> no output: commit, look again      -> output: stage, then answer
 *
 * Attach comes before arm, and arm before the comparison: a notify between any two of these rings the bell or has moved the stamp
 * that is compared. Whoever is in this file owns the request; while the poll is attached its bell may ring, no more.
 */
#include "dispatcher.h"

#include "apr_portable.h"
#include "apr_strings.h"
#include "http_connection.h"
#include "http_core.h"
#include "http_protocol.h"

#include "bell.h"
#include "feeds.h"
#include "log.h"
#include "method.h"
#include "mod_vault.h"
#include "page_facts.h"
#include "poll_request.h"
#include "reply.h"
#include "rounds.h"
#include "watch.h"

APLOG_USE_MODULE(vault);

/* What a client is told that was refused at a limit. */
#define RETRY_AFTER 5

typedef struct dispatch_t {
    request_rec *r;
    const vault_location_t *location;
    vault_ticket_t ticket;
    vault_poll_t poll;
    vault_watch_t watch;
    apr_time_t deadline;
    vault_rounds_t rounds;
    int woken;  /* a wake-up whose reason has not shown yet */
    int waited; /* it has waited before */
} dispatch_t;

/* What a look at the page has come to. */
typedef enum verdict_t { WAIT, RUN, GONE, SUPERSEDED, STOPPING, UNABLE } verdict_t;

/* ------------------------------------------------------------------- answers */

/* The poll is over; only its answer remains to be written, at the client's pace: the next one may have its turn. */
static void leave(dispatch_t *d)
{
    vault_page_leave(vault_server.pages, &d->ticket, apr_time_now());
    if (vault_server.waiters) {
        vault_poll_end(vault_server.waiters, &d->poll);
    }
}

static int answer_expired(dispatch_t *d)
{
    vault_tally(expired, 1);
    leave(d);
    return vault_reply_error(d->r, HTTP_GONE, "the page has expired: load it again");
}

static int answer_superseded(dispatch_t *d)
{
    vault_tally(superseded, 1);
    apr_table_setn(d->r->headers_out, "Vault-Superseded", "1");
    leave(d);
    return vault_reply_nothing(d->r);
}

static int answer_timeout(dispatch_t *d)
{
    vault_tally(timeouts, 1);
    leave(d);
    return vault_reply_nothing(d->r);
}

static int answer_refused(dispatch_t *d, const char *why)
{
    vault_tally(refused, 1);
    leave(d);
    return vault_reply_retry(d->r, RETRY_AFTER, why);
}

static int answer_gone(dispatch_t *d)
{
    vault_tally(gone, 1);
    d->r->connection->keepalive = AP_CONN_CLOSE;
    leave(d);
    return vault_reply_nothing(d->r);
}

/* NULL when one of them is no JSON: the answer then fails, and is made again. */
json_t *vault_dispatcher_updates(const apr_array_header_t *outputs)
{
    json_t *updates = json_array();
    int i;

    for (i = 0; i < outputs->nelts; i++) {
        const vault_output_t *o = &APR_ARRAY_IDX(outputs, i, vault_output_t);
        json_t *update = json_pack("{s:s, s:s, s:s%}", "method", o->url, "type", o->type, "body", o->body, o->length);
        if (update && o->format) {
            json_object_set_new(update, "format", json_string(o->format));
        }
        if (json_array_append_new(updates, update)) {
            json_decref(updates);
            return NULL;
        }
    }
    return updates;
}

static int answer_updates(dispatch_t *d, apr_uint64_t seq, const apr_array_header_t *outputs)
{
    json_t *body = json_pack("{s:I, s:o}", "seq", (json_int_t)seq, "updates", vault_dispatcher_updates(outputs));

    vault_tally(answers, 1);
    if (d->ticket.redelivers) {
        vault_tally(redelivered, 1);
    }
    leave(d);
    return vault_reply_json(d->r, HTTP_OK, body);
}

/* --------------------------------------------------------------------- arming */

/* The methods to run now. Those that have failed wait for their time. */
static void list_moved(const dispatch_t *d, const vault_state_t *base, apr_array_header_t *moved)
{
    int i;

    for (i = 0; i < base->methods->nelts; i++) {
        const vault_method_t *m = &APR_ARRAY_IDX(base->methods, i, vault_method_t);
        if (!vault_rounds_rests(&d->rounds, m->url) && vault_watch_moved(&d->watch, m)) {
            APR_ARRAY_PUSH(moved, const char *) = m->url;
        }
    }
}

/* The browser is known to have the committed state: tell the feeds that wait for that. */
static void tell_acks(const vault_ticket_t *ticket, const vault_state_t *base)
{
    int i;

    for (i = 0; i < base->acks->nelts; i++) {
        const vault_ack_t *a = &APR_ARRAY_IDX(base->acks, i, vault_ack_t);
        vault_feeds_acked(a->feed, a->data);
    }
    if (base->acks->nelts) {
        vault_page_settle(vault_server.pages, ticket);
    }
}

/* Was the page published between the look and the arming? */
static int is_published_now(dispatch_t *d, vault_state_t **base, apr_pool_t *pool)
{
    return vault_page_look(vault_server.pages, &d->ticket, base, pool) == APR_SUCCESS;
}

/* The poll is attached, or could not be: arm, and compare with what the page has seen. */
static verdict_t compare(dispatch_t *d, vault_state_t **base, apr_array_header_t *moved)
{
    vault_watch_arm(&d->watch, vault_server.notifier, vault_server.slot, moved->pool);
    if (vault_page_superseded(vault_server.pages, &d->ticket)) {
        return SUPERSEDED;
    }
    if (!*base) {
        return is_published_now(d, base, moved->pool) ? RUN : WAIT;
    }
    list_moved(d, *base, moved);
    return moved->nelts || vault_page_rewritten(vault_server.pages, &d->ticket) ? RUN : WAIT;
}

/* Look at the page and let the poll wait. WAIT: it is attached, armed, and nothing has moved. Else it is detached. RUN without
 * anything in `moved`: look again. */
static verdict_t look(dispatch_t *d, vault_state_t **base, apr_array_header_t *moved)
{
    apr_status_t rv = vault_page_look(vault_server.pages, &d->ticket, base, moved->pool);
    int able = vault_server.waiters && d->poll.bell >= 0, waits;
    verdict_t verdict;

    if (rv == APR_ECONNABORTED) {
        return SUPERSEDED;
    }
    if (rv != APR_SUCCESS && rv != APR_EAGAIN) {
        return GONE;
    }
    if (*base) {
        tell_acks(&d->ticket, *base);
    }
    vault_watch_list(&d->watch, d->ticket.interest, *base, d->r->pool);
    d->poll.due = d->rounds.rest_until && d->rounds.rest_until < d->deadline ? d->rounds.rest_until : d->deadline;
    d->poll.end = d->deadline;
    waits = able && vault_poll_attach(vault_server.waiters, &d->poll, d->watch.waits, d->watch.count);
    verdict = compare(d, base, moved);
    if (verdict == WAIT && !waits) {
        return able ? STOPPING : UNABLE;
    }
    if (verdict != WAIT && waits) {
        vault_poll_detach(vault_server.waiters, &d->poll);
    }
    return verdict;
}

/* -------------------------------------------------------------------- running */

/* For whoever asks for the page's facts. */
static void note_round(const dispatch_t *d, int ran, int wrote, int failed)
{
    vault_page_last_t round = {.ran_at = (apr_uint64_t)apr_time_now(),
                               .ran = (apr_uint32_t)ran,
                               .wrote = (apr_uint32_t)wrote,
                               .failed = (apr_uint32_t)failed};

    vault_page_note_round(vault_server.pages, &d->ticket, &round);
}

/* @return what the handler returns, or DECLINED: look again */
static int run_round(dispatch_t *d, const vault_state_t *base, const apr_array_header_t *moved)
{
    apr_array_header_t *outputs = apr_array_make(moved->pool, 2, sizeof(vault_output_t));
    vault_run_t *run = vault_run_create(vault_server.pages, &d->ticket.page, base, moved->pool);
    vault_state_t *next;
    apr_status_t rv;
    int failed;

    vault_run_saw(run, vault_watch_seen(&d->watch, moved->pool));
    failed = vault_rounds_run(&d->rounds, run, &d->ticket.page, moved, outputs);
    note_round(d, moved->nelts, outputs->nelts, failed);
    next = vault_run_state(run);
    if (d->r->connection->aborted) {
        return answer_gone(d); /* httpd drops what handlers write then, so no output does not mean no news */
    }
    rv = outputs->nelts ? vault_page_stage(vault_server.pages, &d->ticket, next)
                        : vault_page_commit(vault_server.pages, &d->ticket, next);
    if (rv == APR_ECONNABORTED) {
        return answer_superseded(d);
    }
    if (rv == APR_NOTFOUND) {
        return answer_expired(d);
    }
    if (rv == APR_EAGAIN) {
        return DECLINED; /* the page was written to from outside: the round does not count */
    }
    if (rv != APR_SUCCESS) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, rv, d->r,
                      VLTNO(00031) "the page's state does not fit: VaultSharedMemory is full, or the "
                                   "methods keep more than %d bytes",
                      VAULT_STATE_MAX);
        return answer_refused(d, "the server is full");
    }
    return outputs->nelts ? answer_updates(d, next->seq, outputs) : DECLINED;
}

/* -------------------------------------------------------------------- waiting */

static int resume(void *baton);

/* The memory of turns is not the request's: a poll may wait for long after it has looked at much. Out of memory, APR ends the child. */
static apr_pool_t *make_scratch(void)
{
    apr_pool_t *pool = NULL;

    apr_pool_create(&pool, vault_server.scratch);
    return pool;
}

/* May a poll that would wait for the first time? Later ones know of the client through the waker. @return DECLINED: it may */
static int refuse_to_wait(dispatch_t *d, apr_pool_t *scratch)
{
    if (d->waited) {
        return DECLINED;
    }
    d->waited = 1;
    switch (vault_client_look(d->r, scratch)) {
    case VAULT_CLIENT_GONE:
        return answer_gone(d);
    case VAULT_CLIENT_TALKS:
        return answer_timeout(d); /* a pipelined request waits for our answer */
    default:
        break;
    }
    if (vault_waiters_count(vault_server.waiters) > vault_server.max_waiting) {
        return answer_refused(d, "too many polls wait");
    }
    return DECLINED;
}

/* The poll was attached, and its bell has rung or its client moved. @return what the handler returns, or DECLINED: look again */
static int woken(dispatch_t *d, apr_pool_t *scratch)
{
    unsigned causes = vault_poll_detach(vault_server.waiters, &d->poll);

    vault_page_note_wake(vault_server.pages, &d->ticket, causes, apr_time_now());
    if (causes & (VAULT_CAUSE_STOP | VAULT_CAUSE_END)) {
        return answer_timeout(d); /* what has been notified meanwhile the next poll finds by its stamp */
    }
    if (causes & VAULT_CAUSE_NOTIFY) {
        d->woken = 1;
        d->rounds.rest_until = 0;
        return DECLINED;
    }
    if (causes) {
        return DECLINED;
    }
    switch (vault_client_look(d->r, scratch)) {
    case VAULT_CLIENT_GONE:
        return answer_gone(d);
    case VAULT_CLIENT_TALKS:
        return answer_timeout(d);
    default:
        return DECLINED;
    }
}

static int wait_in_thread(dispatch_t *d, apr_pool_t *scratch)
{
    const conn_rec *c = d->r->connection;
    apr_os_sock_t fd = -1;
    int result;

    if (__atomic_add_fetch(&vault_server.in_threads, 1, __ATOMIC_RELAXED) > (unsigned)vault_settings.threads) {
        result = answer_refused(d, "too many polls wait in threads");
    }
    else {
        if (!c->master) {
            apr_os_sock_get(&fd, ap_get_conn_socket((conn_rec *)c));
        }
        vault_tally(threads, 1);
        vault_poll_sleep(&d->poll, fd);
        vault_tally(threads, -1);
        result = woken(d, scratch);
    }
    __atomic_sub_fetch(&vault_server.in_threads, 1, __ATOMIC_RELAXED);
    return result;
}

/* Attached, armed, nothing has moved. */
static int suspend(dispatch_t *d, apr_pool_t *scratch)
{
    int result;

    if (d->woken) {
        d->woken = 0;
        vault_tally(idle_wakeups, 1);
    }
    if ((result = refuse_to_wait(d, scratch)) != DECLINED) {
        return result;
    }
    d->rounds.in_sequence = 0;
    vault_poll_finish(vault_server.waiters, &d->poll);
    if (vault_bell_usable(d->r)) {
        vault_bell_suspend(d->r, &d->poll, resume, d);
        return SUSPENDED;
    }
    return wait_in_thread(d, scratch);
}

/* One turn of the poll. @return what the handler returns, or DECLINED: another turn */
static int turn(dispatch_t *d, apr_pool_t *pool)
{
    apr_array_header_t *moved = apr_array_make(pool, 4, sizeof(const char *));
    vault_state_t *base = NULL;

    switch (look(d, &base, moved)) {
    case GONE:
        return answer_expired(d);
    case SUPERSEDED:
        return answer_superseded(d);
    case STOPPING:
        return answer_timeout(d);
    case UNABLE:
        return answer_refused(d, "no poll can wait here");
    case RUN:
        d->woken = 0;
        if (moved->nelts && vault_rounds_too_many(&d->rounds, moved)) {
            return DECLINED;
        }
        return moved->nelts ? run_round(d, base, moved) : DECLINED;
    case WAIT:
        break;
    }
    return suspend(d, pool);
}

static int dispatch(dispatch_t *d, apr_pool_t *pool)
{
    int result = DECLINED;

    while (result == DECLINED) {
        apr_pool_clear(pool);
        result = turn(d, pool);
    }
    return result;
}

static int resume(void *baton)
{
    dispatch_t *d = baton;
    apr_pool_t *pool = make_scratch();
    int result = woken(d, pool);

    if (result == DECLINED) {
        result = dispatch(d, pool);
    }
    apr_pool_destroy(pool);
    return result;
}

/* -------------------------------------------------------------------- request */

static int answer_taking(request_rec *r, apr_status_t rv)
{
    if (rv == APR_EACCES) {
        ap_log_rerror(APLOG_MARK, APLOG_NOTICE, 0, r,
                      VLTNO(00032) "the page belongs to another user than %s: the poll URL needs the "
                                   "same authentication as the pages",
                      r->user ? r->user : "nobody");
        return vault_reply_error(r, HTTP_FORBIDDEN, "the page belongs to another user");
    }
    vault_tally(expired, 1);
    return vault_reply_error(r, HTTP_GONE, "the page has expired: load it again");
}

static int answer_acknowledgement(request_rec *r, const vault_poll_request_t *q, apr_pool_t *pool)
{
    vault_ticket_t ticket;
    vault_state_t *base;
    apr_status_t rv = vault_page_acknowledge(vault_server.pages, &q->page, &q->take, &ticket);

    if (rv == APR_SUCCESS && vault_page_look(vault_server.pages, &ticket, &base, pool) == APR_SUCCESS) {
        tell_acks(&ticket, base);
    }
    return rv == APR_SUCCESS ? vault_reply_nothing(r) : answer_taking(r, rv);
}

static int start_poll(request_rec *r, const vault_poll_request_t *q, apr_pool_t *pool)
{
    dispatch_t *d = apr_pcalloc(r->pool, sizeof(*d));
    apr_status_t rv;

    d->r = r;
    d->location = vault_location_of(r);
    d->rounds.r = r;
    d->rounds.location = d->location;
    d->deadline = q->take.until;
    d->poll.bell = -1;
    vault_tally(polls, 1);
    if ((rv = vault_page_take(vault_server.pages, &q->page, &q->take, &d->ticket)) != APR_SUCCESS) {
        return answer_taking(r, rv);
    }
    if (vault_server.waiters && (rv = vault_poll_begin(vault_server.waiters, &d->poll)) != APR_SUCCESS) {
        ap_log_rerror(APLOG_MARK, APLOG_WARNING, rv, r,
                      VLTNO(00033) "a poll cannot wait: no descriptor is left for its bell");
    }
    return dispatch(d, pool);
}

static int handle_poll(request_rec *r, apr_pool_t *pool)
{
    vault_poll_request_t q = {0};
    int status = vault_poll_request_read(&q, r, pool);

    if (status == HTTP_BAD_REQUEST) {
        return vault_reply_error(r, status,
                                 "a poll needs page=ID and seq=N (a number), and may have tab=32 hexadecimal digits");
    }
    if (status == HTTP_GONE) {
        return answer_taking(r, APR_NOTFOUND);
    }
    if (status != OK) {
        return status;
    }
    return q.ack ? answer_acknowledgement(r, &q, pool) : start_poll(r, &q, pool);
}

int vault_dispatcher_handler(request_rec *r)
{
    apr_pool_t *pool;
    int status;

    if (!r->handler || strcmp(r->handler, "vault-poll")) {
        return DECLINED;
    }
    if (r->main) {
        return HTTP_FORBIDDEN; /* its methods' context would be that of the request around it */
    }
    if ((status = vault_reply_method(r, 1, 1)) != OK) {
        return status;
    }
    pool = make_scratch();
    status = handle_poll(r, pool);
    apr_pool_destroy(pool);
    return status;
}
