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

int vault_events_begin(vault_stream_t *stream, const vault_seats_t *seats)
{
    char id[sizeof("id: \n\n") + 20];

    if (!seats->html) {
        return 1;
    }
    apr_snprintf(id, sizeof(id), "id: %" APR_UINT64_T_FMT "\n\n", seats->seat->told);
    return vault_stream_text(stream, id);
}

/* -------------------------------------------------------------------- telling */

static const char *html_of_status(const vault_seat_t *seat)
{
    switch (seat->standing) {
    case VAULT_SEAT_GONE:
    case VAULT_SEAT_FORBIDDEN:
        return EXPIRED;
    case VAULT_SEAT_SUPERSEDED:
        return SUPERSEDED;
    default:
        return "retry: " APR_STRINGIFY(VAULT_RETRY_AFTER) "000\n: the server is full\n\n";
    }
}

static int tell_html(vault_stream_t *stream, vault_seat_t *seat)
{
    char *text;
    int told;

    if (seat->standing != VAULT_SEAT_NEWS) {
        return vault_stream_text(stream, html_of_status(seat));
    }
    text = vault_answer_events(seat);
    told = text && vault_stream_text(stream, text);
    vault_text_free(text);
    seat->told_at = vault_now();
    return told;
}

static int tell_json(vault_stream_t *stream, vault_seats_t *seats, vault_seat_t *seat, apr_pool_t *scratch)
{
    char *text = vault_answer_seat(seat);
    const char *id = seat->standing == VAULT_SEAT_NEWS ? vault_seats_told(seats, scratch) : NULL;
    int told = vault_stream_event(stream, id, text);

    vault_text_free(text);
    return told;
}

/* @return 0: updates could not be written. A page without updates is a success. */
static int tell(vault_stream_t *stream, vault_seats_t *seats, vault_seat_t *seat, apr_pool_t *scratch)
{
    int news = seat->standing == VAULT_SEAT_NEWS, told;

    seat->told = seat->seq;
    told = seats->html ? tell_html(stream, seat) : tell_json(stream, seats, seat, scratch);
    vault_answer_tally(seat);
    seat->standing = news ? VAULT_SEAT_AGAIN : VAULT_SEAT_LEFT;
    seat->ticket.redelivers = 0;
    seat->rounds.in_sequence = 0;
    return told || !news;
}

int vault_events_tell(vault_stream_t *stream, vault_seats_t *seats, apr_pool_t *scratch)
{
    unsigned i;

    for (i = 0; i < seats->count; i++) {
        if (vault_answer_has(&seats->seat[i]) && !tell(stream, seats, &seats->seat[i], scratch)) {
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

apr_time_t vault_events_assume(request_rec *r, vault_seats_t *seats, apr_time_t deadline)
{
    vault_seat_t *seat = seats->seat;
    apr_time_t quiet = seat->told_at + QUIET;

    if (!seats->html || !seat->told_at || !vault_seat_is_taken(seat)) {
        return deadline;
    }
    if (quiet > vault_now()) {
        return quiet < deadline ? quiet : deadline;
    }
    if (has_all(r)) {
        vault_page_assume(vault_server->pages, &seat->ticket, 1);
        seat->told_at = 0;
    }
    return deadline;
}

/* -------------------------------------------------------------- no HTML stream */

int vault_events_refuse(request_rec *r, vault_seats_t *seats, const char *why)
{
    vault_reply_no_cache(r);
    ap_set_content_type(r, "text/event-stream");
    if (why) {
        vault_tally(refused, 1);
        ap_rprintf(r, "retry: %d000\n: %s\n\n", VAULT_RETRY_AFTER, why);
    }
    else {
        vault_answer_tally(seats->seat);
        ap_rputs(html_of_status(seats->seat), r);
    }
    return OK;
}
