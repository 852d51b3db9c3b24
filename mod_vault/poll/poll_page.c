/* SPDX-License-Identifier: Apache-2.0 */
/* One page of a poll. */
#include "poll/poll_page.h"

#include "apr_strings.h"
#include "http_core.h"
#include "http_log.h"

#include "base/now.h"
#include "feed/feeds.h"
#include "page/page_facts.h"
#include "poll/poll_conf.h"
#include "server/log.h"
#include "server/server.h"
#include "store/store.h"
#include "suspend/redispatch.h"

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

vault_poll_page_status_t vault_poll_page_take_status(request_rec *r, const vault_asked_t *asked, apr_status_t rv)
{
    if (rv == APR_EACCES) {
        report_user(r);
        return VAULT_POLL_PAGE_FORBIDDEN;
    }
    if (rv == APR_TIMEUP || rv == APR_ENOSPC) {
        return rv == APR_TIMEUP ? VAULT_POLL_PAGE_UNKNOWN : VAULT_POLL_PAGE_FULL;
    }
    if (vault_page_is_elsewhere(vault_server->pages, &asked->page, asked->take.owner.host)) {
        report_host(r);
    }
    return VAULT_POLL_PAGE_GONE;
}

/* A client may give up a poll and send another one on a new connection, and the first may be handled last. If a
 * page has two polls, the one whose client has disconnected is the older one. */
static int is_late(request_rec *r, const vault_asked_t *asked)
{
    return vault_page_is_polled(vault_server->pages, &asked->page, asked->take.now) && vault_redispatch_client_gone(r);
}

vault_poll_page_status_t vault_poll_page_take(vault_poll_page_t *page, request_rec *r, const vault_asked_t *asked)
{
    apr_status_t rv;

    page->id = apr_pstrdup(r->pool, asked->id);
    page->seq = page->sent = asked->take.seq;
    page->retry.r = r;
    page->retry.location = vault_poll_conf_of(r);
    page->retry.came = vault_now();
    vault_session_watch_begin(&page->session);
    if (is_late(r, asked)) {
        return page->status = VAULT_POLL_PAGE_SUPERSEDED;
    }
    rv = asked->found;
    if (rv == APR_SUCCESS) {
        rv = vault_page_take(vault_server->pages, &asked->page, &asked->take, &page->ticket);
    }
    if (rv == APR_SUCCESS && vault_store_save_again(r, &asked->page) != APR_SUCCESS) {
        return page->status = VAULT_POLL_PAGE_SUPERSEDED;
    }
    if (rv != APR_SUCCESS) {
        return page->status = vault_poll_page_take_status(r, asked, rv);
    }
    page->seq = page->sent = page->ticket.committed;
    return page->status = VAULT_POLL_PAGE_WAITS;
}

/* If another poll has taken over the page meanwhile, the next vault_poll_page_read() finds out. */
void vault_poll_page_stream(const vault_poll_page_t *page)
{
    vault_page_stream(vault_server->pages, &page->ticket);
}

int vault_poll_page_is_taken(const vault_poll_page_t *page)
{
    return page->status != VAULT_POLL_PAGE_LEFT && page->status != VAULT_POLL_PAGE_GONE &&
           page->status != VAULT_POLL_PAGE_FORBIDDEN && page->status != VAULT_POLL_PAGE_UNKNOWN;
}

int vault_poll_page_is_cut(const vault_poll_page_t *page)
{
    return page->status == VAULT_POLL_PAGE_CUT;
}

int vault_poll_page_has_moved(const vault_poll_page_t *page)
{
    return page->status == VAULT_POLL_PAGE_MOVED;
}

int vault_poll_page_is_outdated(const vault_poll_page_t *page)
{
    return page->status == VAULT_POLL_PAGE_OUTDATED;
}

void vault_poll_page_leave(const vault_poll_page_t *page)
{
    vault_page_leave(vault_server->pages, &page->ticket, vault_now());
}

void vault_poll_page_report_acks(vault_ticket_t *ticket, vault_state_t *base, apr_pool_t *scratch)
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
    vault_page_acks_reported(vault_server->pages, ticket);
}

/* ------------------------------------------------------------------- reading */

vault_poll_page_status_t vault_poll_page_read(vault_poll_page_t *page, apr_pool_t *scratch)
{
    apr_status_t rv;

    page->base = NULL;
    page->moved = apr_array_make(scratch, 4, sizeof(const char *));
    rv = vault_page_read_base(vault_server->pages, &page->ticket, &page->base, scratch);
    if (rv == APR_SUCCESS && page->html && page->ticket.full) {
        vault_poll_page_report_acks(&page->ticket, page->base, scratch);
        vault_page_assume(vault_server->pages, &page->ticket, 0);
        rv = vault_page_read_base(vault_server->pages, &page->ticket, &page->base, scratch);
    }
    if (rv == APR_ECONNABORTED) {
        return page->status = VAULT_POLL_PAGE_SUPERSEDED;
    }
    if (rv != APR_SUCCESS && rv != APR_EAGAIN) {
        return page->status = VAULT_POLL_PAGE_GONE;
    }
    if (page->base) {
        vault_poll_page_report_acks(&page->ticket, page->base, scratch);
    }
    return page->status = VAULT_POLL_PAGE_WAITS;
}

/* Was the page published after it was read and before the interests were armed? */
static int is_published_now(vault_poll_page_t *page)
{
    return vault_page_read_base(vault_server->pages, &page->ticket, &page->base, page->moved->pool) == APR_SUCCESS;
}

/* Was the page's own interest notified after the page was read and before the interests were armed? That notify
 * woke no poll. If it were missed, a stream would wait for room that it has, or would not report
 * acknowledgements. */
static int is_told(const vault_poll_page_t *page, const vault_interest_set_t *interests)
{
    return vault_interest_set_has_moved(interests, page->ticket.interest, page->ticket.heard);
}

/* Lists the methods to run now, without those that wait for their retry after a failure or a refusal, and
 * those that another request is running.
 * @return 0: a method needs the session that the browser has now, which this poll cannot tell */
static int list_moved(vault_poll_page_t *page, const vault_interest_set_t *interests)
{
    vault_session_watch_result_t session;
    int i;

    for (i = 0; i < page->base->methods->nelts; i++) {
        const vault_method_t *m = &APR_ARRAY_IDX(page->base->methods, i, vault_method_t);
        if (vault_method_retry_is_delayed(&page->retry, m->url) || vault_method_rests(m, page->retry.came)) {
            continue;
        }
        session = vault_session_watch_compare(&page->session, page->retry.r, page->base, m, interests);
        if (session == VAULT_SESSION_WATCH_OUTDATED) {
            return 0;
        }
        if ((session == VAULT_SESSION_WATCH_OTHER || vault_interest_set_method_moved(interests, m)) &&
            !vault_busy_is(&page->busy, m->url)) {
            APR_ARRAY_PUSH(page->moved, const char *) = m->url;
        }
    }
    return page->moved->nelts || !page->session.missed_cookie;
}

vault_poll_page_status_t vault_poll_page_compare(vault_poll_page_t *page, const vault_interest_set_t *interests)
{
    int moved;

    if (vault_page_superseded(vault_server->pages, &page->ticket)) {
        return page->status = VAULT_POLL_PAGE_SUPERSEDED;
    }
    if (!page->base) {
        moved = is_published_now(page);
    }
    else if (page->ticket.full) {
        moved = is_told(page, interests); /* an acknowledgement makes room, and notifies the page's own interest */
    }
    else if (!list_moved(page, interests)) {
        return page->status = VAULT_POLL_PAGE_OUTDATED;
    }
    else {
        moved =
            page->moved->nelts || vault_page_rewritten(vault_server->pages, &page->ticket) || is_told(page, interests);
    }
    return page->status = moved ? VAULT_POLL_PAGE_MOVED : VAULT_POLL_PAGE_WAITS;
}

apr_time_t vault_poll_page_retry(const vault_poll_page_t *page, apr_time_t at)
{
    int i;

    for (i = 0; vault_poll_page_is_taken(page) && page->base && i < page->base->methods->nelts; i++) {
        const vault_method_t *m = &APR_ARRAY_IDX(page->base->methods, i, vault_method_t);
        if (vault_method_rests(m, page->retry.came) && m->refusal.until < at) {
            at = m->refusal.until;
        }
    }
    return at;
}

/* ------------------------------------------------------------------- running */

/* For the status page (vault_page_note_round()). If no method ran, because the answer was full, the record
 * stays, so that this page comes first next time. */
static void note_round(const vault_poll_page_t *page, const vault_method_round_t *round)
{
    vault_page_last_t last = {
        .ran_at = (apr_uint64_t)vault_now(), .ran = round->ran, .wrote = page->updates.count, .failed = round->failed};

    if (round->ran) {
        vault_page_note_round(vault_server->pages, &page->ticket, &last);
    }
}

/* Stages or commits the result of the round. */
static vault_poll_page_status_t publish(vault_poll_page_t *page, vault_state_t *next)
{
    static apr_time_t said;
    unsigned news = page->updates.count + page->updates.refusals;
    int level;
    apr_status_t rv = news ? vault_page_stage(vault_server->pages, &page->ticket, next)
                           : vault_page_commit(vault_server->pages, &page->ticket, next);

    if (rv == APR_SUCCESS) {
        rv = vault_store_save(page->retry.r, &page->ticket.page);
    }
    if (rv == APR_SUCCESS) {
        page->seq = next->seq;
        return news ? VAULT_POLL_PAGE_STAGED : VAULT_POLL_PAGE_AGAIN;
    }
    if (rv == APR_EAGAIN) {
        return VAULT_POLL_PAGE_AGAIN; /* another request has written to the page: the round is void */
    }
    if (rv == APR_ECONNABORTED) {
        return VAULT_POLL_PAGE_SUPERSEDED;
    }
    if (rv == APR_NOTFOUND) {
        return VAULT_POLL_PAGE_GONE;
    }
    level = vault_log_seldom(&said, vault_now(), APLOG_ERR);
    ap_log_rerror(APLOG_MARK, level, rv, page->retry.r,
                  VLTNO(00031) "the page's state does not fit: VaultSharedMemory is full, or the "
                               "methods keep more than %d bytes",
                  VAULT_STATE_MAX);
    return VAULT_POLL_PAGE_FULL;
}

static vault_poll_page_status_t run_round(vault_poll_page_t *page, const vault_interest_set_t *interests,
                                          vault_answer_budget_t *budget)
{
    apr_pool_t *pool = page->moved->pool;
    vault_page_txn_t *txn = vault_page_txn_create(vault_server->pages, &page->ticket.page, page->base, pool);
    vault_method_round_t round = {.ticket = &page->ticket,
                                  .moved = page->moved,
                                  .updates = &page->updates,
                                  .budget = budget,
                                  .busy = &page->busy};
    vault_state_t *next;

    vault_updates_begin(&page->updates, pool, page->html);
    vault_page_txn_saw(txn, vault_interest_set_stamps(interests, pool));
    if (page->base->seq != page->ticket.committed) {
        vault_page_txn_carry_acks(txn);
    }
    vault_method_retry_run(&page->retry, txn, &round);
    note_round(page, &round);
    if (!round.ran && !budget->full) {
        return VAULT_POLL_PAGE_AGAIN; /* other requests run all of them */
    }
    next = vault_page_txn_state(txn);
    vault_session_watch_ran(&page->session, page->base, next);
    if (page->retry.r->connection->aborted) {
        /* httpd discards the output after the client has disconnected, so empty output does not mean that nothing
         * is new */
        return VAULT_POLL_PAGE_CUT;
    }
    return publish(page, next);
}

vault_poll_page_status_t vault_poll_page_run(vault_poll_page_t *page, const vault_interest_set_t *interests,
                                             vault_answer_budget_t *budget)
{
    if (!page->moved->nelts || vault_method_retry_too_many(&page->retry, page->moved)) {
        return page->status = VAULT_POLL_PAGE_AGAIN;
    }
    return page->status = run_round(page, interests, budget);
}
