/* SPDX-License-Identifier: Apache-2.0 */
/* One page at a poll. */
#include "poll/seat.h"

#include "apr_strings.h"
#include "http_core.h"
#include "http_log.h"

#include "base/now.h"
#include "feed/feeds.h"
#include "page/page_facts.h"
#include "poll/poll_conf.h"
#include "server/log.h"
#include "server/server.h"
#include "suspend/handlers.h"

APLOG_USE_MODULE(vault);

static void report_user(request_rec *r)
{
    static apr_time_t said;
    int level = vault_log_seldom(&said, vault_now(), APLOG_NOTICE);

    ap_log_rerror(
        APLOG_MARK, level, 0, r,
        VLTNO(00032) "the page belongs to another user than %s, or to one of another AuthType or AuthName: the "
                     "poll URL needs the same authentication as the pages",
        r->user ? r->user : "nobody");
}

static void report_host(request_rec *r)
{
    static apr_time_t said;
    int level = vault_log_seldom(&said, vault_now(), APLOG_NOTICE);

    ap_log_rerror(
        APLOG_MARK, level, 0, r,
        VLTNO(00305) "the page was made on another virtual host than %s:%u: pages and their polls need the same "
                     "one",
        r->server->server_hostname, ap_get_server_port(r));
}

vault_standing_t vault_seat_untaken(request_rec *r, const vault_asked_t *asked, apr_status_t rv)
{
    if (rv == APR_EACCES) {
        report_user(r);
        return VAULT_SEAT_FORBIDDEN;
    }
    if (vault_page_is_elsewhere(vault_server->pages, &asked->page, asked->take.owner.host)) {
        report_host(r);
    }
    return VAULT_SEAT_GONE;
}

/* A poll that its client has given up may come in after the one that the client has sent in its place, on another connection. Of two that a
 * page has, the one whose client is gone is the older. */
static int is_late(request_rec *r, const vault_asked_t *asked)
{
    return vault_page_is_polled(vault_server->pages, &asked->page, asked->take.now) && vault_handlers_client_gone(r);
}

vault_standing_t vault_seat_take(vault_seat_t *seat, request_rec *r, const vault_asked_t *asked)
{
    apr_status_t rv;

    seat->id = apr_pstrdup(r->pool, asked->id);
    seat->seq = seat->told = asked->take.seq;
    seat->rounds.r = r;
    seat->rounds.location = vault_poll_conf_of(r);
    seat->rounds.came = vault_now();
    if (is_late(r, asked)) {
        return seat->standing = VAULT_SEAT_SUPERSEDED;
    }
    rv = vault_page_take(vault_server->pages, &asked->page, &asked->take, &seat->ticket);
    if (rv != APR_SUCCESS) {
        return seat->standing = vault_seat_untaken(r, asked, rv);
    }
    seat->seq = seat->told = seat->ticket.committed;
    return seat->standing = VAULT_SEAT_WAITS;
}

/* If another poll has the page by now, the look will tell. */
void vault_seat_stream(const vault_seat_t *seat)
{
    vault_page_stream(vault_server->pages, &seat->ticket);
}

int vault_seat_is_taken(const vault_seat_t *seat)
{
    return seat->standing != VAULT_SEAT_LEFT && seat->standing != VAULT_SEAT_GONE &&
           seat->standing != VAULT_SEAT_FORBIDDEN;
}

void vault_seat_leave(const vault_seat_t *seat)
{
    vault_page_leave(vault_server->pages, &seat->ticket, vault_now());
}

void vault_seat_tell_acks(vault_ticket_t *ticket, vault_state_t *base, apr_pool_t *scratch)
{
    int i;

    if (!ticket->owes || (base->seq != ticket->committed &&
                          vault_page_committed(vault_server->pages, ticket, &base, scratch) != APR_SUCCESS)) {
        return;
    }
    for (i = 0; i < base->acks->nelts; i++) {
        const vault_ack_t *a = &APR_ARRAY_IDX(base->acks, i, vault_ack_t);
        vault_feeds_acked(a->feed, a->data);
    }
    vault_page_settle(vault_server->pages, ticket);
}

/* -------------------------------------------------------------------- looking */

vault_standing_t vault_seat_look(vault_seat_t *seat, apr_pool_t *scratch)
{
    apr_status_t rv;

    seat->base = NULL;
    seat->moved = apr_array_make(scratch, 4, sizeof(const char *));
    rv = vault_page_look(vault_server->pages, &seat->ticket, &seat->base, scratch);
    if (rv == APR_SUCCESS && seat->html && seat->ticket.full) {
        vault_seat_tell_acks(&seat->ticket, seat->base, scratch);
        vault_page_assume(vault_server->pages, &seat->ticket, 0);
        rv = vault_page_look(vault_server->pages, &seat->ticket, &seat->base, scratch);
    }
    if (rv == APR_ECONNABORTED) {
        return seat->standing = VAULT_SEAT_SUPERSEDED;
    }
    if (rv != APR_SUCCESS && rv != APR_EAGAIN) {
        return seat->standing = VAULT_SEAT_GONE;
    }
    if (seat->base) {
        vault_seat_tell_acks(&seat->ticket, seat->base, scratch);
    }
    return seat->standing = VAULT_SEAT_WAITS;
}

/* Was the page published between the look and the arming? */
static int is_published_now(vault_seat_t *seat)
{
    return vault_page_look(vault_server->pages, &seat->ticket, &seat->base, seat->moved->pool) == APR_SUCCESS;
}

/* Was the page's own interest notified between the look and the arming? That notify rang nobody: a stream would wait for room that
 * it has, or keep acks to itself that it is to tell. */
static int is_told(const vault_seat_t *seat, const vault_watch_t *watch)
{
    return vault_watch_passed(watch, seat->ticket.interest, seat->ticket.heard);
}

/* The methods to run now. Those that failed or were refused wait for their time. */
static void list_moved(vault_seat_t *seat, const vault_watch_t *watch)
{
    int i;

    for (i = 0; i < seat->base->methods->nelts; i++) {
        const vault_method_t *m = &APR_ARRAY_IDX(seat->base->methods, i, vault_method_t);
        if (!vault_rounds_rests(&seat->rounds, m->url) && !vault_method_rests(m, seat->rounds.came) &&
            vault_watch_moved(watch, m)) {
            APR_ARRAY_PUSH(seat->moved, const char *) = m->url;
        }
    }
}

vault_standing_t vault_seat_compare(vault_seat_t *seat, const vault_watch_t *watch)
{
    int moved;

    if (vault_page_superseded(vault_server->pages, &seat->ticket)) {
        return seat->standing = VAULT_SEAT_SUPERSEDED;
    }
    if (!seat->base) {
        moved = is_published_now(seat);
    }
    else if (seat->ticket.full) {
        moved = is_told(seat, watch); /* an acknowledgement makes room, and notifies the page's own interest */
    }
    else {
        list_moved(seat, watch);
        moved = seat->moved->nelts || vault_page_rewritten(vault_server->pages, &seat->ticket) || is_told(seat, watch);
    }
    return seat->standing = moved ? VAULT_SEAT_MOVED : VAULT_SEAT_WAITS;
}

apr_time_t vault_seat_retry(const vault_seat_t *seat, apr_time_t at)
{
    int i;

    for (i = 0; vault_seat_is_taken(seat) && seat->base && i < seat->base->methods->nelts; i++) {
        const vault_method_t *m = &APR_ARRAY_IDX(seat->base->methods, i, vault_method_t);
        if (vault_method_rests(m, seat->rounds.came) && m->refusal.until < at) {
            at = m->refusal.until;
        }
    }
    return at;
}

/* -------------------------------------------------------------------- running */

/* For the status page (vault_page_note_round). A page that had to stay out altogether is as before: its turn is still to come. */
static void note_round(const vault_seat_t *seat, const vault_round_t *round)
{
    vault_page_last_t last = {
        .ran_at = (apr_uint64_t)vault_now(), .ran = round->ran, .wrote = seat->updates.count, .failed = round->failed};

    if (round->ran) {
        vault_page_note_round(vault_server->pages, &seat->ticket, &last);
    }
}

/* Publish what the round has come to. */
static vault_standing_t publish(vault_seat_t *seat, vault_state_t *next)
{
    static apr_time_t said;
    unsigned news = seat->updates.count + seat->updates.refusals;
    int level;
    apr_status_t rv = news ? vault_page_stage(vault_server->pages, &seat->ticket, next)
                           : vault_page_commit(vault_server->pages, &seat->ticket, next);

    if (rv == APR_SUCCESS) {
        seat->seq = next->seq;
        return news ? VAULT_SEAT_NEWS : VAULT_SEAT_AGAIN;
    }
    if (rv == APR_EAGAIN) {
        return VAULT_SEAT_AGAIN; /* the page was written to from outside: the round does not count */
    }
    if (rv == APR_ECONNABORTED) {
        return VAULT_SEAT_SUPERSEDED;
    }
    if (rv == APR_NOTFOUND) {
        return VAULT_SEAT_GONE;
    }
    level = vault_log_seldom(&said, vault_now(), APLOG_ERR);
    ap_log_rerror(APLOG_MARK, level, rv, seat->rounds.r,
                  VLTNO(00031) "the page's state does not fit: VaultSharedMemory is full, or the "
                               "methods keep more than %d bytes",
                  VAULT_STATE_MAX);
    return VAULT_SEAT_FULL;
}

static vault_standing_t run_round(vault_seat_t *seat, const vault_watch_t *watch, vault_answer_budget_t *budget)
{
    apr_pool_t *pool = seat->moved->pool;
    vault_run_t *run = vault_run_create(vault_server->pages, &seat->ticket.page, seat->base, pool);
    vault_round_t round = {.ticket = &seat->ticket, .moved = seat->moved, .updates = &seat->updates, .budget = budget};
    vault_state_t *next;

    vault_updates_begin(&seat->updates, pool, seat->html);
    vault_run_saw(run, vault_watch_seen(watch, pool));
    if (seat->base->seq != seat->ticket.committed) {
        vault_run_carry_acks(run);
    }
    vault_rounds_run(&seat->rounds, run, &round);
    note_round(seat, &round);
    next = vault_run_state(run);
    if (seat->rounds.r->connection->aborted) {
        return VAULT_SEAT_CUT; /* httpd drops what handlers write then, so no output does not mean no news */
    }
    return publish(seat, next);
}

vault_standing_t vault_seat_run(vault_seat_t *seat, const vault_watch_t *watch, vault_answer_budget_t *budget)
{
    if (!seat->moved->nelts || vault_rounds_too_many(&seat->rounds, seat->moved)) {
        return seat->standing = VAULT_SEAT_AGAIN;
    }
    return seat->standing = run_round(seat, watch, budget);
}
