/* SPDX-License-Identifier: Apache-2.0 */
/* One poll, from its request to its answer.
 *
 *   take the pages -> look at their states -> attach and arm -> nothing moved? wait -> woken: look again
 *                                                            -> something moved? run the methods that moved
 *   -> no output: commit, look again      -> output: stage, then answer
 *
 * A poll that streams tells what there is to tell and goes on; before it looks again, the client has taken what was said (stream.h).
 *
 * What is done for the pages is their pages' (poll_pages.h); here is what they share: the request, the wait and the answer. Attach comes
 * before arm, and arm before the comparison: a notify between any two of these rings the bell or has moved the stamp that is compared.
 * Whoever is in this file owns the request; while the poll is attached its bell may ring, no more.
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

typedef struct dispatch_t {
    request_rec *r;
    vault_suspension_t *s;
    apr_time_t deadline;      /* when time is up; of a stream: when it is to show that it is alive */
    vault_stream_t *stream;   /* NULL: it answers once */
    apr_time_t end;           /* of a stream */
    apr_time_t drop;          /* of a stream: when the client is dropped if it takes nothing until then */
    int answers;              /* of a stream, so far */
    int over;                 /* the stream: nothing comes after what has been said */
    int woken;                /* a wake-up whose reason has not shown yet */
    int waited;               /* it has waited before */
    int several;              /* it was asked in the form for several pages */
    char *text;               /* the answer, to be sent when the memory of the poll has been given back; text.h */
    vault_poll_pages_t pages; /* one a page */
} dispatch_t;

/* What a look at the pages has come to. */
typedef enum verdict_t { WAIT, RUN, ANSWER, STOPPING, UNABLE } verdict_t;

/* ------------------------------------------------------------------- answers */

/* The poll is over; only its answer remains to be written, at the client's pace: the next one may have its turn. */
static void leave(dispatch_t *d)
{
    vault_poll_pages_leave(&d->pages);
    if (vault_server->waiters && d->s) {
        vault_waiter_close(vault_server->waiters, &d->s->waiter);
        vault_suspension_leave(d->s);
    }
}

/* No news. A stream ends when the client has taken what was said. */
static int answer_nothing(dispatch_t *d)
{
    if (d->stream) {
        vault_waiter_detach(vault_server->waiters, &d->s->waiter);
        d->over = 1;
        return DECLINED;
    }
    leave(d);
    return vault_answer_nothing(d->r);
}

static int answer_refused(dispatch_t *d, const char *why)
{
    leave(d);
    return d->stream ? OK : vault_answer_refused(d->r, why);
}

static int refuse_html(dispatch_t *d, const char *why)
{
    leave(d);
    return vault_events_refuse(d->r, &d->pages, why);
}

static int answer_gone(dispatch_t *d)
{
    leave(d);
    if (d->stream) {
        d->r->connection->aborted = 1; /* what is left of an event must not be followed by the next answer */
    }
    return vault_answer_gone(d->r);
}

/* Updates that cannot be written must not be overtaken by later ones: end the stream. The next poll renders them
 * again. */
static int tell(dispatch_t *d, apr_pool_t *scratch)
{
    if (!vault_events_tell(d->stream, &d->pages, scratch)) {
        return answer_gone(d);
    }
    d->deadline = vault_events_assume(d->r, &d->pages, d->deadline);
    d->over |= ++d->answers >= ANSWERS_MOST || !vault_poll_pages_any(&d->pages, vault_poll_page_is_taken);
    return DECLINED;
}

static int is_cut(const vault_poll_page_t *page)
{
    return page->status == VAULT_POLL_PAGE_CUT;
}

static int has_moved(const vault_poll_page_t *page)
{
    return page->status == VAULT_POLL_PAGE_MOVED;
}

/* @return what the handler returns, or DECLINED: nobody has anything to say, or all has been said: look again */
static int answer(dispatch_t *d, apr_pool_t *scratch)
{
    if (!vault_poll_pages_any(&d->pages, vault_answer_has)) {
        return DECLINED;
    }
    if (vault_poll_pages_any(&d->pages, is_cut)) {
        return answer_gone(d);
    }
    if (d->stream) {
        return tell(d, scratch);
    }
    leave(d);
    return vault_answer_pages(d->r, &d->pages, d->several, &d->text);
}

/* --------------------------------------------------------------------- arming */

static verdict_t compare(dispatch_t *d, apr_pool_t *scratch)
{
    vault_poll_pages_compare(&d->pages, scratch);
    if (vault_poll_pages_any(&d->pages, vault_answer_has)) {
        return ANSWER;
    }
    return vault_poll_pages_any(&d->pages, has_moved) ? RUN : WAIT;
}

/* End the poll when the pause of a refused method ends: the next poll has the browser's current credentials. */
static void end_before_retry(dispatch_t *d)
{
    d->deadline = vault_poll_pages_retry(&d->pages, d->deadline);
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
    d->s->waiter.due = vault_poll_pages_due(&d->pages, d->deadline);
    d->s->waiter.end = d->deadline;
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

/* @return what the handler returns, or DECLINED: look again */
static int run(dispatch_t *d, apr_pool_t *scratch)
{
    d->woken = 0;
    if (!vault_unsent_allows(d->r, vault_wait_quota_client(d->s))) {
        return answer_refused(d, VAULT_UNSENT_REFUSED);
    }
    vault_poll_pages_run(&d->pages);
    return answer(d, scratch);
}

/* -------------------------------------------------------------------- waiting */

/* The memory of turns is not the request's: a poll may wait for long after it has looked at much. Out of memory, APR ends the child. */
static apr_pool_t *make_scratch(void)
{
    apr_pool_t *pool = NULL;

    apr_pool_create(&pool, vault_server->scratch);
    return pool;
}

/* May a poll that would wait for the first time? Later ones know of the client through the waker. @return DECLINED: it may */
static int refuse_to_wait(dispatch_t *d, apr_pool_t *scratch)
{
    if (d->waited) {
        return DECLINED;
    }
    d->waited = 1;
    switch (vault_client_look(d->r, 1, scratch)) {
    case VAULT_CLIENT_GONE:
        return answer_gone(d);
    case VAULT_CLIENT_TALKS:
        return answer_nothing(d); /* a pipelined request waits for our answer */
    default:
        return DECLINED;
    }
}

/* Proxies forget connections that say nothing, and a client that has gone without a word shows when it is written to. */
static int beat(dispatch_t *d)
{
    d->deadline = vault_now() + vault_poll_request_hold(d->r);
    vault_poll_pages_stay(&d->pages, d->deadline);
    d->deadline = vault_events_assume(d->r, &d->pages, d->deadline);
    vault_stream_beat(d->stream);
    return DECLINED;
}

/* The poll waited, and its bell has rung or its client moved. @return what the handler returns, or DECLINED: look again */
static int woken(dispatch_t *d, apr_pool_t *scratch)
{
    unsigned causes = d->s->causes;

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
        d->woken = 1;
        return DECLINED;
    }
    if (causes || !vault_client_stirs(d->r)) {
        return DECLINED; /* a bell may ring for nothing */
    }
    switch (vault_client_look(d->r, 2, scratch)) {
    case VAULT_CLIENT_GONE:
        return answer_gone(d);
    case VAULT_CLIENT_TALKS:
        return answer_nothing(d);
    default:
        return DECLINED;
    }
}

/* It waits: its rounds are no longer in sequence. */
static void begin_wait(dispatch_t *d)
{
    vault_poll_pages_wait(&d->pages);
    if (d->woken) {
        d->woken = 0;
        vault_tally(idle_wakeups, 1);
    }
}

/* Attached, armed, nothing has moved. */
static int suspend(dispatch_t *d, apr_pool_t *scratch)
{
    int result, over = d->over;

    begin_wait(d);
    if ((result = refuse_to_wait(d, scratch)) != DECLINED || d->over != over) {
        return result;
    }
    vault_waiter_finish(vault_server->waiters, &d->s->waiter);
    return vault_suspension_wait(d->s, d) == APR_SUCCESS ? SUSPENDED : answer_refused(d, TOO_MANY);
}

/* No more is taken for now. Who takes nothing for as long as a poll waits, or a little of the end for longer, is dropped.
 * @param slept  for how many ms it has waited for this, and nothing was taken; 0: something was */
static int wait_for_writing(dispatch_t *d, int slept, apr_pool_t *scratch)
{
    apr_time_t now = vault_now(), hold = vault_poll_request_hold(d->r);

    if (!slept) {
        d->drop = now + hold;
    }
    d->s->waiter.due = d->s->waiter.end = d->drop;
    d->s->waiter.writes = !slept ? LOOK_FIRST : slept < LOOK_LAST ? 2 * slept : LOOK_LAST;
    if (now - d->end > hold || !vault_waiter_attach(vault_server->waiters, &d->s->waiter, NULL, 0)) {
        return answer_gone(d);
    }
    vault_poll_pages_stay(&d->pages, d->drop);
    return suspend(d, scratch);
}

/* What a stream does before it looks. @return DECLINED: it may */
static int push(dispatch_t *d, apr_pool_t *scratch)
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
        return OK;
    }
    return DECLINED;
}

/* One turn of the poll. @return what the handler returns, or DECLINED: another turn */
static int turn(dispatch_t *d, apr_pool_t *scratch)
{
    int result = d->stream ? push(d, scratch) : DECLINED;

    if (result != DECLINED) {
        return result;
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

static int dispatch(dispatch_t *d, apr_pool_t *pool)
{
    int result = DECLINED;

    while (result == DECLINED) {
        apr_pool_clear(pool);
        result = turn(d, pool);
    }
    return result;
}

/* It waited, and its handler runs again. */
static int go_on(dispatch_t *d, apr_pool_t *pool)
{
    int result = woken(d, pool);

    return result == DECLINED ? dispatch(d, pool) : result;
}

/* -------------------------------------------------------------------- request */

static dispatch_t *make_dispatch(request_rec *r, const vault_poll_request_t *q)
{
    dispatch_t *d = apr_pcalloc(r->pool, sizeof(*d));

    d->r = r;
    d->deadline = q->until;
    d->several = q->several;
    vault_poll_pages_take(&d->pages, r, q);
    return d;
}

/* Why no stream can be had now; NULL: one can. A poll is told when it would wait; a stream, which has begun to answer by then, before. */
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
    if (!vault_park_usable(d->r) && vault_thread_quota_is_used_up()) {
        return TOO_MANY_THREADS;
    }
    if (!vault_unsent_allows(d->r, vault_wait_quota_client(d->s))) {
        return VAULT_UNSENT_REFUSED;
    }
    return NULL;
}

/* @return what the handler returns, or DECLINED: it has begun */
static int begin_stream(dispatch_t *d)
{
    const char *why = refuse_stream(d);

    if (why) {
        return d->pages.html ? refuse_html(d, why) : answer_refused(d, why);
    }
    vault_poll_pages_stream(&d->pages);
    d->end = vault_now() + apr_time_from_sec(vault_poll_conf_stream(vault_poll_conf_of(d->r)));
    d->stream = vault_stream_begin(d->r);
    return vault_events_begin(d->stream, &d->pages) ? DECLINED : answer_gone(d);
}

static int start_poll(dispatch_t *d, const vault_poll_request_t *q, apr_pool_t *pool)
{
    static apr_time_t said;
    request_rec *r = d->r;
    int result = DECLINED, level;
    apr_status_t rv;

    vault_tally(polls, 1);
    if (vault_poll_pages_any(&d->pages, vault_answer_has) &&
        !(q->stream && vault_poll_pages_any(&d->pages, vault_poll_page_is_taken))) {
        return d->pages.html ? refuse_html(d, NULL) : answer(d, pool);
    }
    if ((rv = vault_suspension_make(&d->s, r)) != APR_SUCCESS) {
        level = vault_log_seldom(&said, vault_now(), APLOG_WARNING);
        ap_log_rerror(APLOG_MARK, level, rv, r, VLTNO(00033) "a poll cannot wait: no descriptor is left for its bell");
    }
    if (q->stream && (result = begin_stream(d)) == DECLINED) {
        result = answer(d, pool);
    }
    return result == DECLINED ? dispatch(d, pool) : result;
}

/* @return the poll; NULL: the request is answered, with `status` */
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
    *status = start_poll(d, &q, pool);
    return d;
}

/* What a client is slow to read is the answer alone: all else that the poll needed is given back before. */
static int handle(request_rec *r)
{
    dispatch_t *d = vault_suspension_woken(r);
    apr_pool_t *pool = make_scratch();
    int status;

    if (d) {
        status = go_on(d, pool);
    }
    else {
        d = read_poll(r, &status, pool);
    }
    apr_pool_destroy(pool);
    return d && d->text ? vault_reply_text(r, HTTP_OK, d->text) : status;
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
