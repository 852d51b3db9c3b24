/* SPDX-License-Identifier: Apache-2.0 */
/* All the pages of one poll. */
#include "poll/seats.h"

#include "apr_strings.h"

#include "base/now.h"
#include "page/page_facts.h"
#include "poll/answer.h"
#include "poll/poll_conf.h"
#include "server/server.h"

void vault_seats_take(vault_seats_t *seats, request_rec *r, const vault_poll_request_t *q)
{
    unsigned i;

    seats->html = q->html;
    seats->count = q->count;
    seats->seat = apr_pcalloc(r->pool, q->count * sizeof(*seats->seat));
    for (i = 0; i < q->count; i++) {
        seats->seat[i].html = q->html;
        vault_seat_take(&seats->seat[i], r, &q->asked[i]);
    }
}

int vault_seats_any(const vault_seats_t *seats, int (*is)(const vault_seat_t *seat))
{
    unsigned i;

    for (i = 0; i < seats->count; i++) {
        if (is(&seats->seat[i])) {
            return 1;
        }
    }
    return 0;
}

/* ------------------------------------------------------------------- a turn */

static void list(vault_seats_t *seats, unsigned most)
{
    unsigned i;

    vault_watch_clear(&seats->watch, most, seats->seat[0].rounds.r->pool);
    for (i = 0; i < seats->count; i++) {
        const vault_seat_t *seat = &seats->seat[i];
        if (vault_seat_is_taken(seat)) {
            vault_watch_add(&seats->watch, seat->ticket.interest, seat->ticket.full ? NULL : seat->base,
                            seat->rounds.came);
        }
    }
}

void vault_seats_look(vault_seats_t *seats, apr_pool_t *scratch)
{
    unsigned i, most = 0;

    for (i = 0; i < seats->count; i++) {
        vault_seat_t *seat = &seats->seat[i];
        if (vault_seat_is_taken(seat) && vault_seat_look(seat, scratch) == VAULT_SEAT_WAITS) {
            most += vault_watch_most(seat->base);
        }
    }
    if (!vault_seats_any(seats, vault_answer_has)) {
        list(seats, most);
    }
}

void vault_seats_compare(vault_seats_t *seats, apr_pool_t *scratch)
{
    unsigned i;

    vault_watch_arm(&seats->watch, vault_server->notifier, vault_server->slot, scratch);
    for (i = 0; i < seats->count; i++) {
        if (vault_seat_is_taken(&seats->seat[i])) {
            vault_seat_compare(&seats->seat[i], &seats->watch);
        }
    }
}

/* Of the pages that have moved the one whose methods have not run for the longest time; NULL: none. A page that had to stay out of an
 * answer has not run, so it comes before those that were in it. */
static vault_seat_t *next_moved(const vault_seats_t *seats)
{
    vault_seat_t *found = NULL;
    apr_time_t oldest = 0;
    unsigned i;

    for (i = 0; i < seats->count; i++) {
        vault_seat_t *seat = &seats->seat[i];
        apr_time_t ran_at =
            seat->standing == VAULT_SEAT_MOVED ? vault_page_ran_at(vault_server->pages, &seat->ticket) : 0;
        if (seat->standing == VAULT_SEAT_MOVED && (!found || ran_at < oldest)) {
            found = seat;
            oldest = ran_at;
        }
    }
    return found;
}

void vault_seats_run(vault_seats_t *seats)
{
    const vault_poll_conf_t *location = seats->seat[0].rounds.location;
    vault_answer_budget_t budget = {.most = (apr_size_t)vault_poll_conf_max_answer(location)};
    vault_seat_t *seat;

    while (vault_answer_budget_allows(&budget, 1) && (seat = next_moved(seats))) {
        vault_seat_run(seat, &seats->watch, &budget);
    }
}

apr_time_t vault_seats_due(const vault_seats_t *seats, apr_time_t due)
{
    apr_time_t now = vault_now();
    unsigned i;

    for (i = 0; i < seats->count; i++) {
        apr_time_t rest_until = seats->seat[i].rounds.rest_until;
        if (rest_until > now && rest_until < due) { /* methods whose rest is over run in this turn */
            due = rest_until;
        }
    }
    return due;
}

apr_time_t vault_seats_retry(const vault_seats_t *seats, apr_time_t end)
{
    unsigned i;

    for (i = 0; i < seats->count; i++) {
        end = vault_seat_retry(&seats->seat[i], end);
    }
    return end;
}

/* ------------------------------------------------------------------ waiting */

void vault_seats_woken(vault_seats_t *seats, unsigned causes)
{
    apr_time_t now = vault_now();
    unsigned i;

    for (i = 0; i < seats->count; i++) {
        vault_page_note_wake(vault_server->pages, &seats->seat[i].ticket, causes, now);
        if (causes & VAULT_CAUSE_NOTIFY) {
            seats->seat[i].rounds.rest_until = 0;
        }
    }
}

void vault_seats_wait(vault_seats_t *seats)
{
    unsigned i;

    for (i = 0; i < seats->count; i++) {
        seats->seat[i].rounds.in_sequence = 0;
    }
}

void vault_seats_stream(const vault_seats_t *seats)
{
    unsigned i;

    for (i = 0; i < seats->count; i++) {
        vault_seat_stream(&seats->seat[i]);
    }
}

void vault_seats_stay(const vault_seats_t *seats, apr_time_t until)
{
    unsigned i;

    for (i = 0; i < seats->count; i++) {
        vault_page_stay(vault_server->pages, &seats->seat[i].ticket, until);
    }
}

const char *vault_seats_told(const vault_seats_t *seats, apr_pool_t *pool)
{
    const char *id = "";
    unsigned i;

    for (i = 0; i < seats->count; i++) {
        id = apr_psprintf(pool, "%s%s%" APR_UINT64_T_FMT, id, i ? "," : "", seats->seat[i].told);
    }
    return id;
}

void vault_seats_leave(const vault_seats_t *seats)
{
    unsigned i;

    for (i = 0; i < seats->count; i++) {
        vault_seat_leave(&seats->seat[i]);
    }
}
