/* SPDX-License-Identifier: Apache-2.0 */
/* N loaded pages that poll, as many browsers would: see pages.h. */
#include "pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "control.h"

#define LOADING_AT_ONCE 16
#define POLLS_A_TURN 8
#define TELLERS 8
#define SECOND 1000000000u
#define ANSWER_PATIENCE (10 * (uint64_t)SECOND)
#define WAITING_PATIENCE (30 * (uint64_t)SECOND)

static pages_t *all; /* a callback has its page only */

static const char *interest_of(const pages_t *pages, int number, char *name, size_t size)
{
    if (!pages->own) {
        return pages->interest;
    }
    snprintf(name, size, "%s-%d", pages->interest, number);
    return name;
}

static void piece(wire_conn_t *conn, const char *bytes, size_t length);

static void send_poll(page_t *page)
{
    page->state = PAGE_POLLING;
    if (all->pubsub) {
        char name[256];
        client_subscribe(&page->conn, interest_of(all, page->number, name, sizeof name));
    }
    else if (all->streams) {
        events_clear(&page->events);
        page->conn.piece = piece;
        client_stream(&page->conn, page->id, page->seq);
    }
    else {
        client_poll(&page->conn, page->id, page->seq);
    }
}

/* The interest takes the place of the first "%s"; the path is never used as a format. */
static void send_load(page_t *page)
{
    char name[256], request[1024];
    const char *interest = interest_of(all, page->number, name, sizeof name);
    const char *place = strstr(all->path, "%s");
    int before = place == NULL ? (int)strlen(all->path) : (int)(place - all->path);
    int length = snprintf(request, sizeof request, "GET %.*s%s%s HTTP/1.1\r\nHost: localhost\r\n\r\n", before,
                          all->path, place == NULL ? "" : interest, place == NULL ? "" : place + 2);

    if (length < 0 || (size_t)length >= sizeof request) {
        wire_die("the path of the page is too long: %s", all->path);
    }
    page->state = PAGE_LOADING;
    wire_send(&page->conn, request, (size_t)length);
}

static void load_next(void)
{
    if (all->next < all->count) {
        send_load(&all->list[all->next++]);
    }
}

static void loaded(page_t *page, const wire_answer_t *answer)
{
    client_page_id(page->id, answer);
    page->state = PAGE_READY;
    if (all->apart) {
        wire_close(&page->conn);
    }
    all->expected--;
    load_next();
}

static void keep_sample(const page_t *page)
{
    if (all->samples == all->room) {
        pages_reserve(all, all->room + 1024);
    }
    all->latency[all->samples++] = (double)(wire_now() - (page->since != 0 ? page->since : all->since)) / 1e6;
}

/* A poll that waited when pages_expect_ends() was called has ended. */
static void note_end(page_t *page, int *how)
{
    if (page->held) {
        page->held = 0;
        ++*how;
        all->ends.ms[all->ends.count++] = (double)(wire_now() - all->ends.since) / 1e6;
        all->ends.left--;
    }
}

static void got_update(page_t *page, const char *body)
{
    int measured = page->expected;

    if (measured) {
        keep_sample(page);
        page->expected = 0;
        all->expected--;
    }
    else {
        all->unexpected++;
    }
    page->seq = all->pubsub ? 0 : client_seq(body);
    if (all->streams) {
        page->told = 1;
        return;
    }
    note_end(page, &all->ends.news);
    page->state = PAGE_READY;
    if (!measured || all->eager) {
        send_poll(page);
    }
}

static void got_other(page_t *page, int status)
{
    all->other[status > 0 && status < 600 ? status : 0]++;
    all->dead++;
    note_end(page, &all->ends.error);
    page->state = PAGE_DEAD;
    if (page->expected) {
        page->expected = 0;
        all->expected--;
        all->missed++;
    }
}

/* As a browser does: the next request uses another connection. */
static void leave_if_told(page_t *page, const char *head)
{
    if (strcasestr(head, "\nConnection: close") != NULL) {
        wire_close(&page->conn);
    }
}

static void answered(wire_conn_t *conn, const wire_answer_t *answer)
{
    page_t *page = (page_t *)conn;

    if (page->state == PAGE_LOADING) {
        loaded(page, answer);
    }
    else if (answer->status == 200) {
        got_update(page, answer->body);
    }
    else if (answer->status == 204) {
        all->no_news++;
        note_end(page, &all->ends.none);
        leave_if_told(page, answer->head);
        send_poll(page);
    }
    else {
        got_other(page, answer->status);
    }
}

static void closed(wire_conn_t *conn, int lost)
{
    page_t *page = (page_t *)conn;

    if (!lost) {
        return;
    }
    note_end(page, &all->ends.unasked);
    if (++all->reopened > 10 * all->count + 100) {
        wire_die("the server closed %d connections without an answer", all->reopened);
    }
    if (page->state == PAGE_LOADING) {
        send_load(page);
    }
    else {
        send_poll(page);
    }
}

static void got_event(void *baton, const char *data)
{
    got_update(baton, data);
}

static void piece(wire_conn_t *conn, const char *bytes, size_t length)
{
    page_t *page = (page_t *)conn;

    switch (events_take(&page->events, bytes, length, got_event, page)) {
    case EVENTS_MORE:
        break;
    case EVENTS_ENDED:
        all->no_news++;
        send_poll(page);
        break;
    case EVENTS_OTHER:
        got_other(page, page->events.status);
        wire_close(conn);
    }
}

/* ----------------------------------------------------------- acknowledgements */

/* Connections for acknowledgements, as a browser has a second one beside a stream. */
static wire_conn_t tellers[TELLERS];
static int next_told;

static void tell_next(wire_conn_t *teller)
{
    while (next_told < all->count) {
        page_t *page = &all->list[next_told++];
        if (page->told) {
            page->told = 0;
            client_acknowledge(teller, page->id, page->seq);
            return;
        }
    }
}

static void told(wire_conn_t *teller, const wire_answer_t *answer)
{
    if (answer->status != 204) {
        wire_die("an acknowledgement was answered %d: %.200s", answer->status, answer->body);
    }
    tell_next(teller);
}

static void lost_teller(wire_conn_t *teller, int lost)
{
    if (lost) {
        wire_die("the server closed a connection without answering an acknowledgement");
    }
}

static int any_teller_busy(void)
{
    for (int i = 0; i < TELLERS; i++) {
        if (tellers[i].under_way) {
            return 1;
        }
    }
    return 0;
}

static void acknowledge_all(void)
{
    uint64_t limit = wire_now() + WAITING_PATIENCE;

    next_told = 0;
    for (int i = 0; i < TELLERS; i++) {
        if (tellers[i].answered == NULL) {
            tellers[i] = (wire_conn_t){.fd = -1, .answered = told, .closed = lost_teller};
        }
        if (wire_is_stale(&tellers[i])) {
            wire_close(&tellers[i]);
        }
        tell_next(&tellers[i]);
    }
    while (any_teller_busy()) {
        wire_step(100);
        if (wire_now() > limit) {
            wire_die("acknowledgements were not answered within 30 s");
        }
    }
}

/* -------------------------------------------------------------------- the calls */

void pages_load(pages_t *pages)
{
    uint64_t limit = wire_now() + WAITING_PATIENCE;

    all = pages;
    pages->list = calloc((size_t)pages->count, sizeof *pages->list);
    if (pages->list == NULL) {
        wire_die("out of memory");
    }
    for (int i = 0; i < pages->count; i++) {
        pages->list[i] = (page_t){.conn = {.fd = -1, .answered = answered, .closed = closed},
                                  .number = i,
                                  .state = pages->pubsub ? PAGE_READY : PAGE_NEW};
    }
    if (pages->pubsub) {
        return;
    }
    pages->expected = pages->count;
    for (int i = 0; i < LOADING_AT_ONCE; i++) {
        load_next();
    }
    while (pages->expected > 0) {
        wire_step(100);
        if (wire_now() > limit) {
            wire_die("%d of %d pages were not loaded within 30 s", pages->expected, pages->count);
        }
    }
}

void pages_poll(pages_t *pages, int paced)
{
    control_status_t status;
    int sent = 0;

    if (pages->streams) {
        acknowledge_all();
    }
    for (int i = 0; i < pages->count; i++) {
        if (pages->list[i].state != PAGE_READY) {
            continue;
        }
        send_poll(&pages->list[i]);
        if (paced && ++sent % POLLS_A_TURN == 0) {
            control_status(&status);
        }
    }
}

static long living(void)
{
    return all->count - all->dead;
}

void pages_await_waiting(pages_t *pages)
{
    control_await_waiting(living);
}

static void expect(pages_t *pages, page_t *page)
{
    if (page->state == PAGE_POLLING && !page->expected) {
        page->expected = 1;
        page->since = 0;
        pages->expected++;
    }
}

void pages_notify(pages_t *pages, int number)
{
    char name[256];

    if (number >= 0) {
        expect(pages, &pages->list[number]);
        pages->list[number].since = control_notify(interest_of(pages, number, name, sizeof name));
        return;
    }
    for (int i = 0; i < pages->count; i++) {
        expect(pages, &pages->list[i]);
    }
    pages->since = control_notify(pages->interest);
}

void pages_await_answers(pages_t *pages)
{
    uint64_t limit = wire_now() + ANSWER_PATIENCE;

    while (pages->expected > 0 && wire_now() < limit) {
        wire_step(100);
    }
    for (int i = 0; pages->expected > 0 && i < pages->count; i++) {
        if (pages->list[i].expected) {
            pages->list[i].expected = 0;
            pages->expected--;
            pages->missed++;
        }
    }
    control_await();
}

void pages_expect_ends(pages_t *pages)
{
    double *ms = realloc(pages->ends.ms, (size_t)pages->count * sizeof *ms);

    if (ms == NULL) {
        wire_die("out of memory");
    }
    pages->ends = (pages_ends_t){.since = wire_now(), .ms = ms};
    for (int i = 0; i < pages->count; i++) {
        pages->list[i].held = pages->list[i].state == PAGE_POLLING;
        pages->ends.left += pages->list[i].held;
    }
}

void pages_reserve(pages_t *pages, size_t samples)
{
    pages->room = pages->samples + samples;
    pages->latency = realloc(pages->latency, pages->room * sizeof *pages->latency);
    if (pages->latency == NULL) {
        wire_die("out of memory");
    }
}
