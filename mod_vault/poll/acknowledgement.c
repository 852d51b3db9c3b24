/* SPDX-License-Identifier: Apache-2.0 */
/* Takes an acknowledgement, and tells the feeds that wait for one. */
#include "poll/acknowledgement.h"

#include "poll/answer.h"
#include "request/reply.h"
#include "server/server.h"

/* Acknowledge one page; its seat is told nothing but what is wrong. */
static void acknowledge(vault_seat_t *seat, request_rec *r, const vault_asked_t *asked, apr_pool_t *pool)
{
    vault_state_t *base;
    apr_status_t rv = vault_page_acknowledge(vault_server->pages, &asked->page, &asked->take, &seat->ticket);

    seat->id = asked->id;
    seat->standing = rv == APR_SUCCESS ? VAULT_SEAT_WAITS : vault_seat_untaken(r, asked, rv);
    if (rv == APR_SUCCESS && vault_page_look(vault_server->pages, &seat->ticket, &base, pool) == APR_SUCCESS) {
        vault_seat_tell_acks(&seat->ticket, base, pool);
    }
}

int vault_acknowledgement_answer(request_rec *r, const vault_poll_request_t *q, apr_pool_t *pool)
{
    vault_seats_t seats = {.count = q->count, .seat = apr_pcalloc(pool, q->count * sizeof(*seats.seat))};
    char *text;
    unsigned i;
    int status;

    for (i = 0; i < q->count; i++) {
        acknowledge(&seats.seat[i], r, &q->asked[i], pool);
    }
    if (!vault_seats_any(&seats, vault_answer_has)) {
        return vault_reply_nothing(r);
    }
    status = vault_answer_pages(r, &seats, q->several, &text);
    return text ? vault_reply_text(r, HTTP_OK, text) : status;
}
