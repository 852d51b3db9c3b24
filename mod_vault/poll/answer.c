/* SPDX-License-Identifier: Apache-2.0 */
/* The answer to a poll. For one page the HTTP status tells its status, which any client understands; for
 * several pages each has a status of its own in the JSON. */
#include "poll/answer.h"

#include "base/json_text.h"
#include "base/text.h"
#include "poll/unsent.h"
#include "poll/updates.h"
#include "request/reply.h"
#include "server/server.h"

#define EXPIRED "the page has expired, or shows another state than the server knows: load it again"
#define ANOTHERS "the page belongs to another user"
#define FULL "the server is full"
#define UNKNOWN "another server may have the page, and the store of pages does not answer"

int vault_answer_has(const vault_poll_page_t *page)
{
    return page->status >= VAULT_POLL_PAGE_STAGED && page->status != VAULT_POLL_PAGE_LEFT;
}

void vault_answer_tally(const vault_poll_page_t *page)
{
    switch (page->status) {
    case VAULT_POLL_PAGE_STAGED:
        vault_tally(answers, 1);
        if (page->ticket.redelivers) {
            vault_tally(redelivered, 1);
        }
        break;
    case VAULT_POLL_PAGE_GONE:
        vault_tally(expired, 1);
        break;
    case VAULT_POLL_PAGE_SUPERSEDED:
        vault_tally(superseded, 1);
        break;
    case VAULT_POLL_PAGE_FULL:
    case VAULT_POLL_PAGE_UNKNOWN:
        vault_tally(refused, 1);
        break;
    default:
        break;
    }
}

static const char *why_unavailable(const vault_poll_page_t *page)
{
    return page->status == VAULT_POLL_PAGE_UNKNOWN ? UNKNOWN : FULL;
}

static json_t *status_of(const vault_poll_page_t *page)
{
    switch (page->status) {
    case VAULT_POLL_PAGE_GONE:
        return json_pack("{s:i, s:s}", "status", HTTP_GONE, "error", EXPIRED);
    case VAULT_POLL_PAGE_FORBIDDEN:
        return json_pack("{s:i, s:s}", "status", HTTP_FORBIDDEN, "error", ANOTHERS);
    case VAULT_POLL_PAGE_SUPERSEDED:
        return json_pack("{s:i, s:b}", "status", HTTP_NO_CONTENT, "superseded", 1);
    default:
        return json_pack("{s:i, s:s, s:i}", "status", HTTP_SERVICE_UNAVAILABLE, "error", why_unavailable(page), "retry",
                         VAULT_RETRY_AFTER);
    }
}

/* Writes all but the closing brace. */
static void write_news(vault_json_text_t *t, vault_poll_page_t *page)
{
    vault_json_text_raw(t, "{\"seq\":");
    vault_json_text_number(t, page->seq);
    vault_json_text_raw(t, ",\"updates\":");
    vault_updates_write(t, &page->updates);
    if (page->updates.refusals) {
        vault_json_text_raw(t, ",\"refused\":");
        vault_updates_write_refused(t, &page->updates);
    }
}

/* The id of an existing page consists of hexadecimal digits and needs no escapes; any other id is repeated as
 * the client has sent it. */
static void write_poll_page(vault_json_text_t *t, vault_poll_page_t *page)
{
    json_t *status;

    if (page->status == VAULT_POLL_PAGE_STAGED) {
        write_news(t, page);
        vault_json_text_raw(t, ",\"page\":\"");
        vault_json_text_raw(t, page->id);
        vault_json_text_raw(t, "\"}");
        return;
    }
    status = status_of(page);
    if (status && json_object_set_new(status, "page", json_string(page->id))) {
        json_decref(status);
        status = NULL;
    }
    vault_json_text_value(t, status);
}

char *vault_answer_poll_page(vault_poll_page_t *page)
{
    vault_json_text_t t = {.text = NULL};

    write_poll_page(&t, page);
    return vault_json_text_end(&t);
}

char *vault_answer_events(vault_poll_page_t *page)
{
    vault_json_text_t t = {.text = NULL};

    vault_updates_write_events(&t, &page->updates, page->seq);
    return vault_json_text_end(&t);
}

/* -------------------------------------------------------------------- polls */

static char *write_one(vault_poll_page_t *page)
{
    vault_json_text_t t = {.text = NULL};

    write_news(&t, page);
    vault_json_text_raw(&t, "}");
    return vault_json_text_end(&t);
}

static char *write_several(const vault_poll_pages_t *pages)
{
    vault_json_text_t t = {.text = NULL};
    const char *before = "";
    unsigned i;

    vault_json_text_raw(&t, "{\"pages\":[");
    for (i = 0; i < pages->count; i++) {
        if (vault_answer_has(&pages->page[i])) {
            vault_json_text_raw(&t, before);
            write_poll_page(&t, &pages->page[i]);
            before = ",";
        }
    }
    vault_json_text_raw(&t, "]}");
    return vault_json_text_end(&t);
}

/* Answers a poll for one page that has no updates. */
static int answer_status(request_rec *r, const vault_poll_page_t *page)
{
    switch (page->status) {
    case VAULT_POLL_PAGE_GONE:
        return vault_reply_error(r, HTTP_GONE, EXPIRED);
    case VAULT_POLL_PAGE_FORBIDDEN:
        return vault_reply_error(r, HTTP_FORBIDDEN, ANOTHERS);
    case VAULT_POLL_PAGE_SUPERSEDED:
        apr_table_setn(r->headers_out, "Vault-Superseded", "1");
        return vault_reply_nothing(r);
    default:
        return vault_reply_retry(r, VAULT_RETRY_AFTER, why_unavailable(page));
    }
}

int vault_answer_pages(request_rec *r, const vault_poll_pages_t *pages, int several, char **text)
{
    int writes = several || pages->page->status == VAULT_POLL_PAGE_STAGED;
    unsigned i;

    *text = !writes ? NULL : several ? write_several(pages) : write_one(pages->page);
    if (*text && !vault_unsent_count(r, *text)) {
        vault_text_free(*text);
        *text = NULL;
        return vault_answer_refused(r, VAULT_UNSENT_REFUSED);
    }
    for (i = 0; i < pages->count; i++) {
        vault_answer_tally(&pages->page[i]);
    }
    return writes ? HTTP_INTERNAL_SERVER_ERROR : answer_status(r, pages->page);
}

int vault_answer_nothing(request_rec *r)
{
    vault_tally(timeouts, 1);
    return vault_reply_nothing(r);
}

int vault_answer_gone(request_rec *r)
{
    vault_tally(gone, 1);
    r->connection->keepalive = AP_CONN_CLOSE;
    return vault_reply_nothing(r);
}

int vault_answer_refused(request_rec *r, const char *why)
{
    vault_tally(refused, 1);
    return vault_reply_retry(r, VAULT_RETRY_AFTER, why);
}
