/* SPDX-License-Identifier: Apache-2.0 */
/* Handles an acknowledgement, and reports it to the feeds that wait for one. */
#include "poll/acknowledgement.h"

#include "poll/answer.h"
#include "request/reply.h"
#include "server/server.h"

/* Acknowledges one page. The answer mentions the page only if there is an error. */
static void acknowledge(vault_poll_page_t *page, request_rec *r, const vault_asked_t *asked, apr_pool_t *pool)
{
    vault_state_t *base;
    apr_status_t rv = asked->found;

    if (rv == APR_SUCCESS) {
        rv = vault_page_acknowledge(vault_server->pages, &asked->page, &asked->take, &page->ticket);
    }
    page->id = asked->id;
    page->status = rv == APR_SUCCESS ? VAULT_POLL_PAGE_WAITS : vault_poll_page_take_status(r, asked, rv);
    if (rv == APR_SUCCESS && vault_page_read_base(vault_server->pages, &page->ticket, &base, pool) == APR_SUCCESS) {
        vault_poll_page_report_acks(&page->ticket, base, pool);
    }
}

int vault_acknowledgement_answer(request_rec *r, const vault_poll_request_t *q, apr_pool_t *pool)
{
    vault_poll_pages_t pages = {.count = q->count, .page = apr_pcalloc(pool, q->count * sizeof(*pages.page))};
    char *text;
    unsigned i;
    int status;

    for (i = 0; i < q->count; i++) {
        acknowledge(&pages.page[i], r, &q->asked[i], pool);
    }
    if (!vault_poll_pages_any(&pages, vault_answer_has)) {
        return vault_reply_nothing(r);
    }
    status = vault_answer_pages(r, &pages, q->several, &text);
    return text ? vault_reply_text(r, HTTP_OK, text) : status;
}
