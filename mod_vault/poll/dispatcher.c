/* SPDX-License-Identifier: Apache-2.0 */
/* One poll, from its request to its answer.
 *
 *   take the pages -> look at their states -> attach and arm -> nothing moved? wait -> woken: look again
 *                                                            -> something moved? run the methods that moved
 *   -> no output: commit, look again      -> output: stage, then answer
 *
 * A poll that streams tells what there is to tell and goes on; before it looks again, the client has taken what
 * was said (stream.h).
 *
 * What is done for the pages is their pages' (poll_pages.h); here is what they share: the request, the wait and
 * the answer. Attach comes before arm, and arm before the comparison: a notify between any two of these wakes the
 * poll or has moved the stamp that is compared. The thread in this file owns the request; while the poll is
 * attached, wakers may note causes and signal its wakeup, no more.
 */
#include "poll/dispatcher.h"

#include "http_protocol.h"

#include "base/now.h"
#include "base/text.h"
#include "poll/acknowledgement.h"
#include "poll/answer.h"
#include "poll/events.h"
#include "poll/poll_conf.h"
#include "poll/poll_request.h"
#include "poll/poll_pages.h"
#include "poll/stream.h"
#include "poll/unsent.h"
#include "request/origin.h"
#include "request/reply.h"
#include "server/log.h"
#include "server/server.h"
#include "server/thread_quota.h"
#include "suspend/park.h"
#include "suspend/suspend.h"
#include "suspend/wait_quota.h"

APLOG_USE_MODULE(vault);

/* After so many answers a stream ends, to be asked for again: each leaves a little in the memory of the request. */
#define ANSWERS_MOST 200
/* How often is looked whether a client of HTTP/2 has taken something: in ms, twice as long each time. */
#define LOOK_FIRST 1
#define LOOK_LAST 128

#define TOO_MANY "too many polls wait"
#define TOO_MANY_OF_CLIENT "too many polls of this client wait"
#define TOO_MANY_THREADS "too many polls wait in threads"

/* What is kept for a poll beside its suspension. `s->waiter.end` is when its time is up; of a stream, when it is
 * to show that it is alive. While a stream waits for its client to read, `s->waiter.due` is when it drops that
 * client. */
typedef struct dispatch_t {
    vault_suspension_t *s;
    int status;               /* what the handler returns */
    vault_stream_t *stream;   /* NULL: it answers once */
    apr_time_t end;           /* of a stream */
    int answers;              /* of a stream, so far */
    int over;                 /* the stream: nothing comes after what has been said */
    int notified;             /* a notification woke it, and no method has run since: an idle wake-up, so far */
    int client_checked;       /* its client has been looked at, before the first wait */
    int several;              /* it was asked in the form for several pages */
    char *text;               /* the answer, to be sent when the memory of the poll has been given back; text.h */
    vault_poll_pages_t pages; /* one a page */
} dispatch_t;

/* What a step of the poll has come to. */
typedef enum outcome_t {
    LOOK_AGAIN, /* there is no answer yet: take another turn */
    RETURN      /* the handler returns `status` */
} outcome_t;

/* What a look at the pages has come to. */
typedef enum verdict_t { WAIT, RUN, ANSWER, STOPPING, UNABLE } verdict_t;

/* ------------------------------------------------------------------- answers */

static outcome_t answered(dispatch_t *d, int status)
{
    d->status = status;
    return RETURN;
}

/* The poll is over; only its answer remains to be written, at the client's pace: the next one may have its turn. */
static void leave(dispatch_t *d)
{
    vault_poll_pages_leave(&d->pages);
    vault_suspension_release(d->s);
}

/* No news. A stream ends when the client has taken what was said. */
static outcome_t answer_nothing(dispatch_t *d)
{
    if (d->stream) {
        vault_waiter_detach(vault_server->waiters, &d->s->waiter);
        d->over = 1;
        return LOOK_AGAIN;
    }
    leave(d);
    return answered(d, vault_answer_nothing(d->s->r));
}

static outcome_t answer_refused(dispatch_t *d, const char *why)
{
    leave(d);
    return answered(d, d->stream ? OK : vault_answer_refused(d->s->r, why));
}

static outcome_t refuse_html(dispatch_t *d, const char *why)
{
    leave(d);
    return answered(d, vault_events_refuse(d->s->r, &d->pages, why));
}

static outcome_t answer_gone(dispatch_t *d)
{
    leave(d);
    if (d->stream) {
        d->s->r->connection->aborted = 1; /* what is left of an event must not be followed by the next answer */
    }
    return answered(d, vault_answer_gone(d->s->r));
}

/* Updates that cannot be written must not be overtaken by later ones: end the stream. The next poll renders them
 * again. */
static outcome_t tell(dispatch_t *d, apr_pool_t *scratch)
{
    apr_time_t *deadline = &d->s->waiter.end;

    if (!vault_events_tell(d->stream, &d->pages, scratch)) {
        return answer_gone(d);
    }
    *deadline = vault_events_assume(d->s->r, &d->pages, *deadline);
    d->over |= ++d->answers >= ANSWERS_MOST || !vault_poll_pages_any(&d->pages, vault_poll_page_is_taken);
    return LOOK_AGAIN;
}

/* What the pages have to say. LOOK_AGAIN: there is nothing, or a stream has said all of it. */
static outcome_t answer(dispatch_t *d, apr_pool_t *scratch)
{
    if (!vault_poll_pages_any(&d->pages, vault_answer_has)) {
        return LOOK_AGAIN;
    }
    if (vault_poll_pages_any(&d->pages, vault_poll_page_is_cut)) {
        return answer_gone(d);
    }
    if (d->stream) {
        return tell(d, scratch);
    }
    leave(d);
    return answered(d, vault_answer_pages(d->s->r, &d->pages, d->several, &d->text));
}

/* --------------------------------------------------------------------- arming */

static verdict_t compare(dispatch_t *d, apr_pool_t *scratch)
{
    vault_poll_pages_compare(&d->pages, scratch);
    if (vault_poll_pages_any(&d->pages, vault_answer_has)) {
        return ANSWER;
    }
    if (vault_poll_pages_any(&d->pages, vault_poll_page_is_outdated)) {
        return STOPPING;
    }
    return vault_poll_pages_any(&d->pages, vault_poll_page_has_moved) ? RUN : WAIT;
}

/* End the poll when the pause of a refused method ends: the next poll has the browser's current credentials. */
static void end_before_retry(dispatch_t *d)
{
    d->s->waiter.end = vault_poll_pages_retry(&d->pages, d->s->waiter.end);
    if (d->stream) {
        d->end = vault_poll_pages_retry(&d->pages, d->end);
    }
}

/* Look at the pages and let the poll wait. WAIT: it is attached, armed, and nothing has moved. Else it is detached. */
static verdict_t look(dispatch_t *d, apr_pool_t *scratch)
{
    int able = vault_server->waiters && d->s->waiter.wakeup >= 0, waits;
    verdict_t verdict;

    vault_poll_pages_read(&d->pages, scratch);
    if (vault_poll_pages_any(&d->pages, vault_answer_has)) {
        return ANSWER;
    }
    end_before_retry(d);
    d->s->waiter.due = vault_poll_pages_due(&d->pages, d->s->waiter.end);
    waits = able && vault_waiter_attach(vault_server->waiters, &d->s->waiter, d->pages.interests.waits,
                                        d->pages.interests.count);
    verdict = compare(d, scratch);
    if (verdict == WAIT && !waits) {
        return able ? STOPPING : UNABLE;
    }
    if (verdict != WAIT && waits) {
        vault_waiter_detach(vault_server->waiters, &d->s->waiter);
    }
    return verdict;
}

static outcome_t run(dispatch_t *d, apr_pool_t *scratch)
{
    d->notified = 0;
    if (!vault_unsent_allows(d->s->r, vault_wait_quota_client(d->s))) {
        return answer_refused(d, VAULT_UNSENT_REFUSED);
    }
    vault_poll_pages_run(&d->pages);
    return answer(d, scratch);
}

/* -------------------------------------------------------------------- waiting */

/* The memory of turns is not the request's: a poll may wait for long after it has looked at much. Out of memory,
 * APR ends the child. */
static apr_pool_t *make_scratch(void)
{
    apr_pool_t *pool = NULL;

    apr_pool_create(&pool, vault_server->scratch);
    return pool;
}

/* What a client has done means for its poll: it is gone; or it has sent the next request, which waits for this
 * poll's answer. */
static outcome_t answer_client(dispatch_t *d, vault_client_t client)
{
    return client == VAULT_CLIENT_GONE ? answer_gone(d) : client == VAULT_CLIENT_TALKS ? answer_nothing(d) : LOOK_AGAIN;
}

/* Before the first wait, look at the client. Before later ones there is no need: the waker has watched its socket. */
static vault_client_t check_client(dispatch_t *d, apr_pool_t *scratch)
{
    if (d->client_checked) {
        return VAULT_CLIENT_QUIET;
    }
    d->client_checked = 1;
    return vault_client_look(d->s->r, 1, scratch);
}

/* Proxies forget idle connections, and a client that vanished is noticed when it is written to. */
static outcome_t beat(dispatch_t *d)
{
    apr_time_t *deadline = &d->s->waiter.end;

    *deadline = vault_now() + vault_poll_request_hold(d->s->r);
    vault_poll_pages_stay(&d->pages, *deadline);
    *deadline = vault_events_assume(d->s->r, &d->pages, *deadline);
    vault_stream_beat(d->stream);
    return LOOK_AGAIN;
}

/* The poll waited, and its wakeup was signalled or its client did something. */
static outcome_t woken(dispatch_t *d, apr_pool_t *scratch)
{
    unsigned causes = d->s->waiter.causes;

    vault_poll_pages_woken(&d->pages, causes);
    if (d->s->waiter.writes && causes) {
        return answer_gone(d); /* it reads too slowly: what it has not got it asks for again */
    }
    if (causes == VAULT_CAUSE_END && d->stream && vault_now() < d->end) {
        return beat(d);
    }
    if (causes & (VAULT_CAUSE_STOP | VAULT_CAUSE_END | VAULT_CAUSE_COMPLETE)) {
        return answer_nothing(d); /* what has been notified meanwhile the next poll finds by its stamp */
    }
    if (causes & VAULT_CAUSE_NOTIFY) {
        d->notified = 1;
        return LOOK_AGAIN;
    }
    if (causes || !vault_client_stirs(d->s->r)) {
        return LOOK_AGAIN; /* a wakeup may be signalled for nothing */
    }
    return answer_client(d, vault_client_look(d->s->r, 2, scratch));
}

/* The poll is attached and armed, and nothing has moved. */
static outcome_t suspend(dispatch_t *d, apr_pool_t *scratch)
{
    vault_client_t client;

    vault_poll_pages_wait(&d->pages);
    if (d->notified) {
        d->notified = 0;
        vault_tally(idle_wakeups, 1);
    }
    client = check_client(d, scratch);
    if (client != VAULT_CLIENT_QUIET) {
        return answer_client(d, client);
    }
    return vault_suspension_wait(d->s, d) == APR_SUCCESS ? answered(d, SUSPENDED) : answer_refused(d, TOO_MANY);
}

/* The client takes no more for now. One that takes nothing for as long as a poll waits, or a little of the end for
 * longer, is dropped.
 * @param slept  for how many ms it has waited for this, and nothing was taken; 0: something was */
static outcome_t wait_for_writing(dispatch_t *d, int slept, apr_pool_t *scratch)
{
    apr_time_t now = vault_now(), hold = vault_poll_request_hold(d->s->r);
    vault_waiter_t *waiter = &d->s->waiter;

    if (!slept) {
        waiter->due = now + hold;
    }
    waiter->writes = !slept ? LOOK_FIRST : slept < LOOK_LAST ? 2 * slept : LOOK_LAST;
    if (now - d->end > hold || !vault_waiter_attach(vault_server->waiters, waiter, NULL, 0)) {
        return answer_gone(d);
    }
    vault_poll_pages_stay(&d->pages, waiter->due);
    return suspend(d, scratch);
}

/* What a stream does before it looks. LOOK_AGAIN: it may look. */
static outcome_t push(dispatch_t *d, apr_pool_t *scratch)
{
    apr_status_t rv = vault_stream_push(d->stream);
    int slept = d->s->waiter.writes;

    d->s->waiter.writes = 0;
    if (APR_STATUS_IS_EAGAIN(rv) || rv == APR_EBUSY) {
        return wait_for_writing(d, rv == APR_EBUSY ? slept : 0, scratch);
    }
    if (rv != APR_SUCCESS) {
        return answer_gone(d);
    }
    if (d->over || vault_now() >= d->end) {
        leave(d);
        return answered(d, OK);
    }
    return LOOK_AGAIN;
}

static outcome_t turn(dispatch_t *d, apr_pool_t *scratch)
{
    if (d->stream && push(d, scratch) == RETURN) {
        return RETURN;
    }
    if (d->s->waiter.writes) {
        return LOOK_AGAIN; /* its client sent the next request while it reads what was said */
    }
    switch (look(d, scratch)) {
    case ANSWER:
        return answer(d, scratch);
    case STOPPING:
        return answer_nothing(d);
    case UNABLE:
        return answer_refused(d, "no poll can wait here");
    case RUN:
        return run(d, scratch);
    case WAIT:
        break;
    }
    return suspend(d, scratch);
}

static outcome_t dispatch(dispatch_t *d, apr_pool_t *pool)
{
    outcome_t outcome;

    do {
        apr_pool_clear(pool);
        outcome = turn(d, pool);
    } while (outcome == LOOK_AGAIN);
    return outcome;
}

/* -------------------------------------------------------------------- request */

static dispatch_t *make_dispatch(request_rec *r, const vault_poll_request_t *q)
{
    dispatch_t *d = apr_pcalloc(r->pool, sizeof(*d));

    d->s = vault_suspension_make(r);
    d->s->waiter.end = q->until;
    d->several = q->several;
    vault_poll_pages_take(&d->pages, r, q);
    return d;
}

/* Why no stream can be had now; NULL: one can. A poll is told when it would wait; a stream, which has begun to
 * answer by then, before. */
static const char *refuse_stream(const dispatch_t *d)
{
    if (!vault_server->waiters || d->s->waiter.wakeup < 0) {
        return "no poll can wait here";
    }
    if (vault_waiters_count(vault_server->waiters) >= vault_server->max_waiting) {
        return TOO_MANY;
    }
    if (!vault_wait_quota_allows(d->s)) {
        return TOO_MANY_OF_CLIENT;
    }
    if (d->s->waiter.in_thread && vault_thread_quota_is_used_up()) {
        return TOO_MANY_THREADS;
    }
    if (!vault_unsent_allows(d->s->r, vault_wait_quota_client(d->s))) {
        return VAULT_UNSENT_REFUSED;
    }
    return NULL;
}

/* LOOK_AGAIN: it has begun. */
static outcome_t begin_stream(dispatch_t *d)
{
    const char *why = refuse_stream(d);
    request_rec *r = d->s->r;

    if (why) {
        return d->pages.html ? refuse_html(d, why) : answer_refused(d, why);
    }
    vault_poll_pages_stream(&d->pages);
    d->end = vault_now() + apr_time_from_sec(vault_poll_conf_stream(vault_poll_conf_of(r)));
    d->stream = vault_stream_begin(r);
    return vault_events_begin(d->stream, &d->pages) ? LOOK_AGAIN : answer_gone(d);
}

static void prepare_to_wait(vault_suspension_t *s)
{
    static apr_time_t said;
    apr_status_t rv = vault_suspension_prepare(s);

    if (rv != APR_SUCCESS) {
        int level = vault_log_seldom(&said, vault_now(), APLOG_WARNING);
        ap_log_rerror(APLOG_MARK, level, rv, s->r,
                      VLTNO(00033) "a poll cannot wait: no descriptor is left for its eventfd");
    }
}

static outcome_t start_poll(dispatch_t *d, const vault_poll_request_t *q, apr_pool_t *pool)
{
    outcome_t outcome = LOOK_AGAIN;

    vault_tally(polls, 1);
    if (vault_poll_pages_any(&d->pages, vault_answer_has) &&
        !(q->stream && vault_poll_pages_any(&d->pages, vault_poll_page_is_taken))) {
        return d->pages.html ? refuse_html(d, NULL) : answer(d, pool);
    }
    prepare_to_wait(d->s);
    if (q->stream && (outcome = begin_stream(d)) == LOOK_AGAIN) {
        outcome = answer(d, pool);
    }
    return outcome == LOOK_AGAIN ? dispatch(d, pool) : outcome;
}

/* @return the poll, whose handler returns `status`; NULL: the request is answered, with `*status` */
static dispatch_t *read_poll(request_rec *r, int *status, apr_pool_t *pool)
{
    vault_poll_request_t q;
    dispatch_t *d;

    memset(&q, 0, sizeof(q));
    if ((*status = vault_poll_request_read(&q, r, pool)) != OK) {
        *status = vault_poll_request_refuse(r, *status);
        return NULL;
    }
    if (q.ack) {
        *status = vault_acknowledgement_answer(r, &q, pool);
        return NULL;
    }
    d = make_dispatch(r, &q);
    start_poll(d, &q, pool);
    return d;
}

/* A slow client reads the answer only: all else that the poll needed is released before. */
static int handle(request_rec *r)
{
    dispatch_t *d = vault_suspension_woken(r);
    apr_pool_t *pool = make_scratch();
    int status = OK;

    if (!d) {
        d = read_poll(r, &status, pool);
    }
    else if (woken(d, pool) == LOOK_AGAIN) {
        dispatch(d, pool);
    }
    apr_pool_destroy(pool);
    if (!d) {
        return status;
    }
    return d->text ? vault_reply_text(r, HTTP_OK, d->text) : d->status;
}

int vault_dispatcher_handler(request_rec *r)
{
    int status;

    if (!r->handler || strcmp(r->handler, "vault-poll")) {
        return DECLINED;
    }
    if (r->main) {
        return HTTP_FORBIDDEN; /* its methods' context would be that of the request around it */
    }
    if ((status = vault_origin_admit(r, "GET, POST", 0)) != DECLINED || (status = vault_reply_method(r, 1, 1)) != OK) {
        return status;
    }
    return handle(r);
}
