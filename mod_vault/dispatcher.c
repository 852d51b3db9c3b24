/* SPDX-License-Identifier: Apache-2.0 */
/* One poll, from its request to its answer.
 *
 *   take the pages -> look at their states -> attach and arm -> nothing moved? wait -> woken: look again
 *                                                            -> something moved? run the methods that moved
 *   -> no output: commit, look again      -> output: stage, then answer
 *
 * What is done for one page is its seat's (seat.h); here is what they share: the request, the wait and the answer. Attach comes before arm, and arm before the comparison: a notify between any two of these rings the bell or has moved the stamp
 * that is compared. Whoever is in this file owns the request; while the poll is attached its bell may ring, no more.
 */
#include "dispatcher.h"

#include "apr_strings.h"
#include "http_connection.h"
#include "http_core.h"
#include "http_protocol.h"

#include "bell.h"
#include "log.h"
#include "mod_vault.h"
#include "now.h"
#include "origin.h"
#include "page_facts.h"
#include "poll_request.h"
#include "reply.h"
#include "seat.h"
#include "suspend.h"
#include "updates.h"
#include "watch.h"

APLOG_USE_MODULE(vault);

/* What a client is told that was refused at a limit. */
#define RETRY_AFTER 5

typedef struct dispatch_t {
    request_rec *r;
    vault_suspension_t *s;
    vault_watch_t watch;
    apr_time_t deadline;
    int woken;  /* a wake-up whose reason has not shown yet */
    int waited; /* it has waited before */
    unsigned count;
    vault_seat_t seats[]; /* one a page */
} dispatch_t;

/* What a look at the pages has come to. */
typedef enum verdict_t { WAIT, RUN, ANSWER, STOPPING, UNABLE } verdict_t;

/* ------------------------------------------------------------------- answers */

/* The poll is over; only its answer remains to be written, at the client's pace: the next one may have its turn. */
static void leave(dispatch_t *d)
{
    unsigned i;

    for (i = 0; i < d->count; i++) {
        vault_seat_leave(&d->seats[i]);
    }
    if (vault_server.waiters) {
        vault_poll_end(vault_server.waiters, &d->s->poll);
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

static int answer_updates(dispatch_t *d, const vault_seat_t *seat)
{
    json_t *body = vault_updates_answer(seat->seq, seat->outputs);

    vault_tally(answers, 1);
    if (seat->ticket.redelivers) {
        vault_tally(redelivered, 1);
    }
    leave(d);
    return vault_reply_json(d->r, HTTP_OK, body);
}

/* Has the seat something to say to the client? */
static int is_settled(const vault_seat_t *seat)
{
    return seat->standing >= VAULT_SEAT_NEWS;
}

static const vault_seat_t *first_settled(const dispatch_t *d)
{
    unsigned i;

    for (i = 0; i < d->count; i++) {
        if (is_settled(&d->seats[i])) {
            return &d->seats[i];
        }
    }
    return NULL;
}

/* @return what the handler returns, or DECLINED: nobody has anything to say, look again */
static int answer(dispatch_t *d)
{
    const vault_seat_t *seat = first_settled(d);

    switch (seat ? seat->standing : VAULT_SEAT_WAITS) {
    case VAULT_SEAT_NEWS:
        return answer_updates(d, seat);
    case VAULT_SEAT_GONE:
        return answer_expired(d);
    case VAULT_SEAT_SUPERSEDED:
        return answer_superseded(d);
    case VAULT_SEAT_FULL:
        return answer_refused(d, "the server is full");
    case VAULT_SEAT_CUT:
        return answer_gone(d);
    default:
        return DECLINED;
    }
}

/* --------------------------------------------------------------------- arming */

/* Look at the pages, and list what they depend on. @return how they stand, together: WAIT or ANSWER */
static verdict_t look_at_pages(dispatch_t *d, apr_pool_t *scratch)
{
    unsigned i, most = 0;

    for (i = 0; i < d->count; i++) {
        if (vault_seat_look(&d->seats[i], scratch) == VAULT_SEAT_WAITS) {
            most += vault_watch_most(d->seats[i].base);
        }
    }
    if (first_settled(d)) {
        return ANSWER;
    }
    vault_watch_clear(&d->watch, most, d->r->pool);
    for (i = 0; i < d->count; i++) {
        vault_watch_add(&d->watch, d->seats[i].ticket.interest, d->seats[i].base);
    }
    return WAIT;
}

/* When the poll is to look again, whatever happens. */
static apr_time_t due_at(const dispatch_t *d)
{
    apr_time_t due = d->deadline;
    unsigned i;

    for (i = 0; i < d->count; i++) {
        apr_time_t rest_until = d->seats[i].rounds.rest_until;
        if (rest_until && rest_until < due) {
            due = rest_until;
        }
    }
    return due;
}

/* The poll is attached, or could not be: arm, and compare with what the pages have seen. */
static verdict_t compare(dispatch_t *d, apr_pool_t *scratch)
{
    int moved = 0;
    unsigned i;

    vault_watch_arm(&d->watch, vault_server.notifier, vault_server.slot, scratch);
    for (i = 0; i < d->count; i++) {
        moved |= vault_seat_compare(&d->seats[i], &d->watch) == VAULT_SEAT_MOVED;
    }
    return first_settled(d) ? ANSWER : moved ? RUN : WAIT;
}

/* Look at the pages and let the poll wait. WAIT: it is attached, armed, and nothing has moved. Else it is detached. */
static verdict_t look(dispatch_t *d, apr_pool_t *scratch)
{
    int able = vault_server.waiters && d->s->poll.bell >= 0, waits;
    verdict_t verdict;

    if (look_at_pages(d, scratch) == ANSWER) {
        return ANSWER;
    }
    d->s->poll.due = due_at(d);
    d->s->poll.end = d->deadline;
    waits = able && vault_poll_attach(vault_server.waiters, &d->s->poll, d->watch.waits, d->watch.count);
    verdict = compare(d, scratch);
    if (verdict == WAIT && !waits) {
        return able ? STOPPING : UNABLE;
    }
    if (verdict != WAIT && waits) {
        vault_poll_detach(vault_server.waiters, &d->s->poll);
    }
    return verdict;
}

/* @return what the handler returns, or DECLINED: look again */
static int run(dispatch_t *d)
{
    unsigned i;

    d->woken = 0;
    for (i = 0; i < d->count; i++) {
        if (d->seats[i].standing == VAULT_SEAT_MOVED) {
            vault_seat_run(&d->seats[i], &d->watch);
        }
    }
    return answer(d);
}

/* -------------------------------------------------------------------- waiting */

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
        return DECLINED;
    }
}

/* Each page hears of it: whoever is notified rests no more. */
static void note_wake(dispatch_t *d, unsigned causes)
{
    apr_time_t now = vault_now();
    unsigned i;

    for (i = 0; i < d->count; i++) {
        vault_page_note_wake(vault_server.pages, &d->seats[i].ticket, causes, now);
        if (causes & VAULT_CAUSE_NOTIFY) {
            d->seats[i].rounds.rest_until = 0;
        }
    }
}

/* The poll waited, and its bell has rung or its client moved. @return what the handler returns, or DECLINED: look again */
static int woken(dispatch_t *d, apr_pool_t *scratch)
{
    unsigned causes = d->s->causes;

    note_wake(d, causes);
    if (causes & (VAULT_CAUSE_STOP | VAULT_CAUSE_END | VAULT_CAUSE_COMPLETE)) {
        return answer_timeout(d); /* what has been notified meanwhile the next poll finds by its stamp */
    }
    if (causes & VAULT_CAUSE_NOTIFY) {
        d->woken = 1;
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

/* It waits: its rounds are no longer in sequence. */
static void begin_wait(dispatch_t *d)
{
    unsigned i;

    for (i = 0; i < d->count; i++) {
        d->seats[i].rounds.in_sequence = 0;
    }
    if (d->woken) {
        d->woken = 0;
        vault_tally(idle_wakeups, 1);
    }
}

/* Attached, armed, nothing has moved. */
static int suspend(dispatch_t *d, apr_pool_t *scratch)
{
    int result;

    begin_wait(d);
    if ((result = refuse_to_wait(d, scratch)) != DECLINED) {
        return result;
    }
    vault_poll_finish(vault_server.waiters, &d->s->poll);
    return vault_suspension_wait(d->s, d) == APR_SUCCESS ? SUSPENDED : answer_refused(d, "too many polls wait");
}

/* One turn of the poll. @return what the handler returns, or DECLINED: another turn */
static int turn(dispatch_t *d, apr_pool_t *scratch)
{
    switch (look(d, scratch)) {
    case ANSWER:
        return answer(d);
    case STOPPING:
        return answer_timeout(d);
    case UNABLE:
        return answer_refused(d, "no poll can wait here");
    case RUN:
        return run(d);
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
        vault_seat_tell_acks(&ticket, base, pool);
    }
    return rv == APR_SUCCESS ? vault_reply_nothing(r) : answer_taking(r, rv);
}

static dispatch_t *make_dispatch(request_rec *r, unsigned count, apr_time_t deadline)
{
    dispatch_t *d = apr_pcalloc(r->pool, sizeof(*d) + count * sizeof(d->seats[0]));

    d->r = r;
    d->deadline = deadline;
    d->count = count;
    return d;
}

static int start_poll(request_rec *r, const vault_poll_request_t *q, apr_pool_t *pool)
{
    dispatch_t *d = make_dispatch(r, 1, q->take.until);
    apr_status_t rv;

    vault_tally(polls, 1);
    if ((rv = vault_seat_take(&d->seats[0], r, &q->page, &q->take)) != APR_SUCCESS) {
        return answer_taking(r, rv);
    }
    if ((rv = vault_suspension_make(&d->s, r)) != APR_SUCCESS) {
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

static int handle(request_rec *r, apr_pool_t *pool)
{
    dispatch_t *d = vault_suspension_woken(r);

    return d ? go_on(d, pool) : handle_poll(r, pool);
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
    if ((status = vault_origin_admit(r, "GET, POST", 0)) != DECLINED || (status = vault_reply_method(r, 1, 1)) != OK) {
        return status;
    }
    pool = make_scratch();
    status = handle(r, pool);
    apr_pool_destroy(pool);
    return status;
}
