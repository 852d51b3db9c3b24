/* SPDX-License-Identifier: Apache-2.0 */
/* All the pages of one poll. */
#include "poll/poll_pages.h"

#include "apr_strings.h"

#include "base/now.h"
#include "page/page_facts.h"
#include "poll/answer.h"
#include "poll/poll_conf.h"
#include "server/server.h"

void vault_poll_pages_take(vault_poll_pages_t *pages, request_rec *r, const vault_poll_request_t *q)
{
    unsigned i;

    pages->html = q->html;
    pages->count = q->count;
    pages->page = apr_pcalloc(r->pool, q->count * sizeof(*pages->page));
    for (i = 0; i < q->count; i++) {
        pages->page[i].html = q->html;
        vault_poll_page_take(&pages->page[i], r, &q->asked[i]);
    }
}

int vault_poll_pages_any(const vault_poll_pages_t *pages, int (*is)(const vault_poll_page_t *page))
{
    unsigned i;

    for (i = 0; i < pages->count; i++) {
        if (is(&pages->page[i])) {
            return 1;
        }
    }
    return 0;
}

/* ------------------------------------------------------------------- a turn */

static void list(vault_poll_pages_t *pages, unsigned most)
{
    unsigned i;

    vault_interest_set_clear(&pages->interests, most, pages->page[0].retry.r->pool);
    for (i = 0; i < pages->count; i++) {
        const vault_poll_page_t *page = &pages->page[i];
        if (vault_poll_page_is_taken(page)) {
            vault_interest_set_add(&pages->interests, page->ticket.interest, page->ticket.full ? NULL : page->base,
                                   page->retry.came);
            vault_busy_list(&page->busy, &pages->interests);
        }
    }
}

void vault_poll_pages_read(vault_poll_pages_t *pages, apr_pool_t *scratch)
{
    unsigned i, most = 0;

    for (i = 0; i < pages->count; i++) {
        vault_poll_page_t *page = &pages->page[i];
        if (vault_poll_page_is_taken(page) && vault_poll_page_read(page, scratch) == VAULT_POLL_PAGE_WAITS) {
            most += vault_interest_set_max(page->base) + vault_busy_max(&page->busy);
        }
    }
    if (!vault_poll_pages_any(pages, vault_answer_has)) {
        list(pages, most);
    }
}

void vault_poll_pages_compare(vault_poll_pages_t *pages, apr_pool_t *scratch)
{
    unsigned i;

    vault_interest_set_arm(&pages->interests, vault_server->notifier, vault_server->slot, scratch);
    for (i = 0; i < pages->count; i++) {
        if (vault_poll_page_is_taken(&pages->page[i])) {
            vault_poll_page_compare(&pages->page[i], &pages->interests);
        }
    }
}

/* The page whose methods have not run for the longest time, among those that have moved; NULL: none. A page
 * that did not fit into an answer has not run, so it precedes those that did. */
static vault_poll_page_t *next_moved(const vault_poll_pages_t *pages)
{
    vault_poll_page_t *found = NULL;
    apr_time_t oldest = 0;
    unsigned i;

    for (i = 0; i < pages->count; i++) {
        vault_poll_page_t *page = &pages->page[i];
        apr_time_t ran_at =
            page->status == VAULT_POLL_PAGE_MOVED ? vault_page_ran_at(vault_server->pages, &page->ticket) : 0;
        if (page->status == VAULT_POLL_PAGE_MOVED && (!found || ran_at < oldest)) {
            found = page;
            oldest = ran_at;
        }
    }
    return found;
}

void vault_poll_pages_run(vault_poll_pages_t *pages)
{
    const vault_poll_conf_t *location = pages->page[0].retry.location;
    vault_answer_budget_t budget = {.most = (apr_size_t)vault_poll_conf_max_answer(location)};
    vault_poll_page_t *page;

    while (vault_answer_budget_allows(&budget, 1) && (page = next_moved(pages))) {
        vault_poll_page_run(page, &pages->interests, &budget);
    }
}

apr_time_t vault_poll_pages_due(const vault_poll_pages_t *pages, apr_time_t due)
{
    apr_time_t now = vault_now();
    unsigned i;

    for (i = 0; i < pages->count; i++) {
        apr_time_t retry_at = pages->page[i].retry.retry_at;
        if (retry_at > now && retry_at < due) { /* later than now: methods whose delay is over run in this turn */
            due = retry_at;
        }
        due = vault_busy_until(&pages->page[i].busy, now, due);
    }
    return due;
}

apr_time_t vault_poll_pages_retry(const vault_poll_pages_t *pages, apr_time_t end)
{
    unsigned i;

    for (i = 0; i < pages->count; i++) {
        end = vault_poll_page_retry(&pages->page[i], end);
    }
    return end;
}

/* ------------------------------------------------------------------ waiting */

void vault_poll_pages_woken(vault_poll_pages_t *pages, unsigned causes)
{
    apr_time_t now = vault_now();
    unsigned i;

    for (i = 0; i < pages->count; i++) {
        vault_page_note_wake(vault_server->pages, &pages->page[i].ticket, causes, now);
        if (causes & VAULT_CAUSE_NOTIFY) {
            pages->page[i].retry.retry_at = 0;
        }
    }
}

void vault_poll_pages_wait(vault_poll_pages_t *pages)
{
    unsigned i;

    for (i = 0; i < pages->count; i++) {
        pages->page[i].retry.in_sequence = 0;
    }
}

void vault_poll_pages_stream(const vault_poll_pages_t *pages)
{
    unsigned i;

    for (i = 0; i < pages->count; i++) {
        vault_poll_page_stream(&pages->page[i]);
    }
}

void vault_poll_pages_stay(const vault_poll_pages_t *pages, apr_time_t until)
{
    unsigned i;

    for (i = 0; i < pages->count; i++) {
        vault_page_stay(vault_server->pages, &pages->page[i].ticket, until);
    }
}

const char *vault_poll_pages_sent(const vault_poll_pages_t *pages, apr_pool_t *pool)
{
    const char *id = "";
    unsigned i;

    for (i = 0; i < pages->count; i++) {
        id = apr_psprintf(pool, "%s%s%" APR_UINT64_T_FMT, id, i ? "," : "", pages->page[i].sent);
    }
    return id;
}

void vault_poll_pages_leave(const vault_poll_pages_t *pages)
{
    unsigned i;

    for (i = 0; i < pages->count; i++) {
        vault_poll_page_leave(&pages->page[i]);
    }
}
