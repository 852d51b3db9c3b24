/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the events of streams. */
#include "poll/events.h"

#include <sys/ioctl.h>

#include <linux/sockios.h>

#include "apr_portable.h"
#include "apr_strings.h"
#include "http_core.h"
#include "http_protocol.h"

#include "base/now.h"
#include "base/text.h"
#include "poll/answer.h"
#include "request/reply.h"
#include "server/server.h"

/* A stream is quiet if it has written no answer for this time. */
#define QUIET apr_time_from_sec(2)
/* The page does not exist. Turbo loads it again; other clients listen to the event `vault-expired`. A client that does
 * neither reconnects every 30 s. */
#define EXPIRED                                                                                                        \
    "retry: 30000\n"                                                                                                   \
    "event: vault-expired\n"                                                                                           \
    "data: load the page again\n"                                                                                      \
    "\n"                                                                                                               \
    "data: <turbo-stream action=\"refresh\"></turbo-stream>\n"                                                         \
    "\n"
/* A newer stream has taken over the page. If this client still exists, two tabs show the page, and each takes it over
 * from the other. */
#define SUPERSEDED "retry: 10000\n: a newer stream has the page\n\n"

int vault_events_begin(vault_stream_t *stream, const vault_poll_pages_t *pages)
{
    char id[sizeof("id: \n\n") + 20];

    if (!pages->html) {
        return 1;
    }
    apr_snprintf(id, sizeof(id), "id: %" APR_UINT64_T_FMT "\n\n", pages->page->sent);
    return vault_stream_text(stream, id);
}

/* -------------------------------------------------------------------- writing */

static const char *html_of_status(const vault_poll_page_t *page)
{
    switch (page->status) {
    case VAULT_POLL_PAGE_GONE:
    case VAULT_POLL_PAGE_FORBIDDEN:
        return EXPIRED;
    case VAULT_POLL_PAGE_SUPERSEDED:
        return SUPERSEDED;
    default:
        return "retry: " APR_STRINGIFY(VAULT_RETRY_AFTER) "000\n: the server is full\n\n";
    }
}

static int tell_html(vault_stream_t *stream, vault_poll_page_t *page)
{
    char *text;
    int told;

    if (page->status != VAULT_POLL_PAGE_STAGED) {
        return vault_stream_text(stream, html_of_status(page));
    }
    text = vault_answer_events(page);
    told = text && vault_stream_text(stream, text);
    vault_text_free(text);
    page->sent_at = vault_now();
    return told;
}

static int tell_json(vault_stream_t *stream, vault_poll_pages_t *pages, vault_poll_page_t *page, apr_pool_t *scratch)
{
    char *text = vault_answer_poll_page(page);
    const char *id = page->status == VAULT_POLL_PAGE_STAGED ? vault_poll_pages_sent(pages, scratch) : NULL;
    int told = vault_stream_event(stream, id, text);

    vault_text_free(text);
    return told;
}

/* @return 0: updates could not be written. A page without updates is a success. */
static int tell(vault_stream_t *stream, vault_poll_pages_t *pages, vault_poll_page_t *page, apr_pool_t *scratch)
{
    int news = page->status == VAULT_POLL_PAGE_STAGED, told;

    page->sent = page->seq;
    told = pages->html ? tell_html(stream, page) : tell_json(stream, pages, page, scratch);
    vault_answer_tally(page);
    page->status = news ? VAULT_POLL_PAGE_AGAIN : VAULT_POLL_PAGE_LEFT;
    page->ticket.redelivers = 0;
    page->retry.in_sequence = 0;
    return told || !news;
}

int vault_events_tell(vault_stream_t *stream, vault_poll_pages_t *pages, apr_pool_t *scratch)
{
    unsigned i;

    for (i = 0; i < pages->count; i++) {
        if (vault_answer_has(&pages->page[i]) && !tell(stream, pages, &pages->page[i], scratch)) {
            return 0;
        }
    }
    return 1;
}

/* ------------------------------------------------------------ HTML: arrivals */

/* Has the TCP peer, which may be a proxy, acknowledged every written byte? Over HTTP/2 the bytes of other streams on
 * the connection count as well. */
static int has_all(const request_rec *r)
{
    conn_rec *c = r->connection->master ? r->connection->master : r->connection;
    apr_os_sock_t fd;
    int unacknowledged;

    return apr_os_sock_get(&fd, ap_get_conn_socket(c)) == APR_SUCCESS && !ioctl(fd, SIOCOUTQ, &unacknowledged) &&
           !unacknowledged;
}

apr_time_t vault_events_assume(request_rec *r, vault_poll_pages_t *pages, apr_time_t deadline)
{
    vault_poll_page_t *page = pages->page;
    apr_time_t quiet = page->sent_at + QUIET;

    if (!pages->html || !page->sent_at || !vault_poll_page_is_taken(page)) {
        return deadline;
    }
    if (quiet > vault_now()) {
        return quiet < deadline ? quiet : deadline;
    }
    if (has_all(r)) {
        vault_page_assume(vault_server->pages, &page->ticket, 1);
        page->sent_at = 0;
    }
    return deadline;
}

/* -------------------------------------------------------------- no HTML stream */

int vault_events_refuse(request_rec *r, vault_poll_pages_t *pages, const char *why)
{
    vault_reply_no_cache(r);
    ap_set_content_type(r, "text/event-stream");
    if (why) {
        vault_tally(refused, 1);
        ap_rprintf(r, "retry: %d000\n: %s\n\n", VAULT_RETRY_AFTER, why);
    }
    else {
        vault_answer_tally(pages->page);
        ap_rputs(html_of_status(pages->page), r);
    }
    return OK;
}
