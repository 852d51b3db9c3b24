/* SPDX-License-Identifier: Apache-2.0 */
/* A server of the game: takes a poll or a stream, looks, tells acks, arms, compares, sleeps, runs a round and
 * answers; a stream then goes on. The steps are those of poll_page.c. */
#include "page_game.h"

#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#include "page/page_facts.h"

static void serve_no_more(server_t *s)
{
    s->step = FREE;
    apr_pool_clear(s->pool);
}

static int is_heard(const game_t *g, const server_t *s)
{
    return g->connection && s->connection == g->connection;
}

static int is_streaming(const server_t *s)
{
    return s->kind == STREAM && s->step != FREE;
}

/* No answer, or none any more. What a stream has said before may arrive or not. */
static void hear_nothing(game_t *g, server_t *s)
{
    if (is_heard(g, s)) {
        if (s->kind == STREAM && game_chance(g, 50)) {
            g->closed = 1;
        }
        else {
            browser_hangs_up(g);
        }
    }
    serve_no_more(s);
}

/* It ends by itself, or sees that the browser has gone. */
static void leave(game_t *g, server_t *s)
{
    vault_page_leave(g->pages, &s->ticket, NOW - 1);
    hear_nothing(g, s);
}

void server_dies(game_t *g, server_t *s)
{
    unsigned slot;

    g->rare[STREAM_KILLED] += is_streaming(s) && is_heard(g, s);
    if (s->step == READ || s->step == FINISH) {
        g->over = s->call ? s->calls : g->over;
    }
    vault_slot_exited(g->f.notifier, s->pid, &slot);
    hear_nothing(g, s);
    s->pid = g->next_pid++;
    CU_ASSERT_FATAL(vault_slot_claim(g->f.notifier, s->pid, &s->slot) == APR_SUCCESS);
}

static void hear_expired(game_t *g, server_t *s)
{
    int listens = is_heard(g, s);

    serve_no_more(s);
    if (listens) {
        g->rare[EXPIRED]++;
        vault_page_drop(g->pages, &g->page);
        browser_loads(g);
    }
}

/* The page is lost to another, or gone. */
static void hear_failure(game_t *g, server_t *s, apr_status_t rv)
{
    g->rare[OVERTAKEN] += rv == APR_ECONNABORTED;
    (rv == APR_NOTFOUND ? hear_expired : hear_nothing)(g, s);
}

/* ------------------------------------------------------------------- a request */

static void note_takeover(game_t *g, const server_t *s)
{
    int i;

    for (i = 0; i < SERVERS; i++) {
        const server_t *other = &g->server[i];
        if (other != s && is_streaming(other) && !memcmp(&other->ticket.page, &g->page, sizeof(g->page))) {
            g->rare[s->kind == POLL ? TAKEN_BY_POLL : TAKEN_BY_STREAM]++;
            return;
        }
    }
}

static void accept_poll(game_t *g, server_t *s, const vault_page_t *page, const vault_take_t *take)
{
    if (vault_page_take(g->pages, page, take, &s->ticket) != APR_SUCCESS) {
        hear_expired(g, s);
        return;
    }
    note_takeover(g, s);
    g->rare[REDELIVERED] += s->ticket.redelivers != 0;
    s->step = s->kind == STREAM ? BEGIN : LOOK;
}

/* Has the page, as far as it knows? */
static int has_page(const game_t *g, const server_t *s)
{
    return s->step != FREE && s->kind != ACKNOWLEDGEMENT && !vault_page_superseded(g->pages, &s->ticket);
}

static void note_acknowledged(game_t *g, const server_t *s)
{
    vault_page_facts_t facts;
    int i, others = 0;

    g->rare[ASIDE]++;
    for (i = 0; i < SERVERS; i++) {
        const server_t *other = &g->server[i];
        if (has_page(g, other)) {
            others++;
            g->rare[BESIDE_A_ROUND] += other->kind == STREAM && other->step >= CREATE && other->step <= PUT;
            g->rare[ROOM_AGAIN] += other->ticket.full != 0;
        }
    }
    if (!others && !s->ticket.fence && vault_page_facts(g->pages, &g->page, &facts, s->pool) == APR_SUCCESS &&
        facts.base && facts.base->acks->nelts) {
        g->unsound = "acknowledgements are left that no request will report";
    }
}

static void accept_acknowledgement(game_t *g, server_t *s, const vault_page_t *page, const vault_take_t *take)
{
    if (vault_page_acknowledge(g->pages, page, take, &s->ticket) != APR_SUCCESS) {
        serve_no_more(s); /* no other code depends on it */
        return;
    }
    note_acknowledged(g, s);
    s->step = LOOK;
}

static void accept_request(game_t *g, server_t *s, request_t *r)
{
    vault_take_t take = {r->seq, {r->tab, r->tab}, {0}, NOW, NOW};

    r->there = 0;
    s->kind = r->kind;
    s->came = g->now;
    s->connection = r->kind == ACKNOWLEDGEMENT ? 0 : r->connection;
    (r->kind == ACKNOWLEDGEMENT ? accept_acknowledgement : accept_poll)(g, s, &r->page, &take);
}

static void begin_stream(game_t *g, server_t *s)
{
    vault_page_stream(g->pages, &s->ticket); /* if another has the page by now, the look tells */
    s->step = LOOK;
}

/* ---------------------------------------------------------------------- a look */

/* What was written from outside is there from then on. */
static void check_property(game_t *g, const server_t *s)
{
    const vault_property_t *p = vault_state_property(s->base, "outside");

    if (memcmp(&s->ticket.page, &g->page, sizeof(g->page)) == 0) {
        g->forgotten += (p ? (unsigned)atoi(p->value) : 0) != g->property;
    }
}

/* What the state says to be refused, the browser that shows this state was told of. */
static void check_refusals(game_t *g, const server_t *s)
{
    int m;

    for (m = 0; m < METHODS && s->base->seq == g->seq && !memcmp(&s->ticket.page, &g->page, sizeof(g->page)); m++) {
        unsigned status = vault_state_method(s->base, game_method[m])->refusal.status;
        g->untold += status && status != g->shown.refused[m];
    }
}

static void look(game_t *g, server_t *s)
{
    apr_status_t rv;

    apr_pool_clear(s->pool);
    memset(&s->interests, 0, sizeof(s->interests));
    s->base = NULL;
    rv = vault_page_read_base(g->pages, &s->ticket, &s->base, s->pool);
    if (s->kind == ACKNOWLEDGEMENT && (rv != APR_SUCCESS || !s->ticket.owes)) {
        serve_no_more(s);
        return;
    }
    if (rv != APR_SUCCESS && rv != APR_EAGAIN) {
        hear_failure(g, s, rv);
        return;
    }
    g->rare[EARLY] += rv == APR_EAGAIN;
    g->rare[FULL] += s->ticket.full != 0;
    s->step = ARM;
    if (rv == APR_SUCCESS) {
        check_property(g, s);
        check_refusals(g, s);
    }
    if (rv == APR_SUCCESS && s->ticket.owes) {
        s->next = s->kind == ACKNOWLEDGEMENT ? FREE : ARM;
        s->step = TELL;
    }
}

/* The acks of the committed state, which need not be the one that a stream goes on from. */
static void tell(game_t *g, server_t *s)
{
    vault_state_t *base = s->base;
    int i;

    s->step = s->next;
    if (base->seq != s->ticket.committed && vault_page_committed(g->pages, &s->ticket, &base, s->pool) != APR_SUCCESS) {
        return;
    }
    for (i = 0; i < base->acks->nelts; i++) {
        unsigned round = (unsigned)atoi(APR_ARRAY_IDX(base->acks, i, vault_ack_t).data);
        g->mistold += !g->round[round].counts;
        g->round[round].told = 1;
    }
    s->step = SETTLE;
}

static void settle(game_t *g, server_t *s)
{
    vault_page_acks_reported(g->pages, &s->ticket);
    s->step = s->next;
    if (s->step == FREE) {
        serve_no_more(s);
    }
}

/* ------------------------------------------------------------------ a comparison */

/* @return whether any method is to run */
static int list_moved(server_t *s)
{
    int m, any = 0;

    for (m = 0; m < METHODS; m++) {
        const vault_method_t *method = vault_state_method(s->base, game_method[m]);
        any |= s->moved[m] =
            !vault_method_rests(method, s->came) && vault_interest_set_method_moved(&s->interests, method);
    }
    return any;
}

/* Nothing has moved, so it sleeps; nor may there be anything else to do that no notify will wake it for. */
static void check_sleep(game_t *g, const server_t *s)
{
    vault_page_facts_t facts;

    if (!s->base || fixture_is_rung(&g->f, s->slot) ||
        vault_page_facts(g->pages, &s->ticket.page, &facts, s->pool) != APR_SUCCESS) {
        return;
    }
    if (s->ticket.full && facts.count < VAULT_PAGE_STAGED) {
        g->unsound = "a stream sleeps that has room";
    }
    if (facts.base->acks->nelts) {
        g->unsound = "a server sleeps that has acks to tell";
    }
}

/* Arm first, then compare (notifier.h). */
static void arm(game_t *g, server_t *s)
{
    const vault_state_t *watched = s->ticket.full ? NULL : s->base;
    int again;

    vault_interest_set_clear(&s->interests, vault_interest_set_max(watched), s->pool);
    vault_interest_set_add(&s->interests, s->ticket.interest, watched, s->came);
    vault_interest_set_arm(&s->interests, g->f.notifier, s->slot, s->pool);
    if (vault_page_superseded(g->pages, &s->ticket)) {
        s->step = LOOK;
        return;
    }
    again = vault_interest_set_has_moved(&s->interests, s->ticket.interest, s->ticket.heard) ||
            vault_page_rewritten(g->pages, &s->ticket);
    if (s->base && !s->ticket.full && list_moved(s)) {
        round_begins(g, s);
        s->step = CREATE;
        return;
    }
    s->step = again ? LOOK : SLEEP;
    if (!again) {
        check_sleep(g, s);
    }
}

/* @return whether it was woken */
static int drain(game_t *g, server_t *s)
{
    vault_interest_t list[VAULT_SLOT_QUEUE];
    unsigned count, i, k;
    int woken = vault_slot_drain(g->f.notifier, s->slot, list, VAULT_SLOT_QUEUE, &count);

    for (i = 0; i < count; i++) {
        for (k = 0; k < s->interests.count; k++) {
            woken |= s->interests.waits[k].interest == list[i];
        }
    }
    if (woken) {
        s->step = LOOK;
    }
    return woken;
}

/* A refused method may be tried again, by the next request. */
static int is_to_retry(const game_t *g, const server_t *s)
{
    int m;

    for (m = 0; s->base && m < METHODS; m++) {
        const vault_method_t *method = vault_state_method(s->base, game_method[m]);
        if (vault_method_rests(method, s->came) && method->refusal.until <= g->now) {
            return 1;
        }
    }
    return 0;
}

/* @return whether anything moved */
static int sleep_on(game_t *g, server_t *s)
{
    if (drain(g, s)) {
        return 1;
    }
    if (is_to_retry(g, s) || (!g->quiet && game_chance(g, 1))) { /* time is up */
        leave(g, s);
        return 1;
    }
    return 0;
}

/* -------------------------------------------------------------------- answers */

static void put(game_t *g, server_t *s)
{
    apr_status_t rv = round_puts(g, s);

    if (rv == APR_EAGAIN) {
        g->rare[DISCARDED]++;
        if (!vault_page_rewritten(g->pages, &s->ticket)) {
            g->unsound = "a round has no room, though the look said that there is some";
        }
        s->step = LOOK;
    }
    else if (rv != APR_SUCCESS) {
        hear_failure(g, s, rv);
    }
    else {
        s->step = s->has_news ? ANSWER : LOOK;
    }
}

static void answer_poll(game_t *g, server_t *s)
{
    news_t news = s->news;
    apr_uint64_t seq = s->seq;
    int listens = is_heard(g, s);

    vault_page_leave(g->pages, &s->ticket, NOW - 1);
    serve_no_more(s);
    if (listens) {
        browser_shows(g, seq, &news);
    }
}

/* Of a browser that has gone it may hear now or never. */
static void answer_stream(game_t *g, server_t *s)
{
    s->step = LOOK;
    if (is_heard(g, s) && g->events < VAULT_PAGE_STAGED) {
        g->event[g->events].seq = s->seq;
        g->event[g->events++].news = s->news;
    }
    else if (is_heard(g, s)) {
        g->overfull++; /* more answers are on their way than it keeps */
    }
    else if (game_chance(g, 30)) {
        leave(g, s);
    }
}

/* ----------------------------------------------------------------------- a step */

/* @return whether anything moved */
static int is_asked(game_t *g, server_t *s)
{
    request_t *r = &g->wire[game_pick(g, WIRE)];

    if (r->there) {
        accept_request(g, s, r);
        return 1;
    }
    return 0;
}

int server_serves(game_t *g, server_t *s)
{
    vault_pages_set_slot(g->pages, s->slot);
    switch (s->step) {
    case FREE:
        return is_asked(g, s);
    case SLEEP:
        return sleep_on(g, s);
    case BEGIN:
        begin_stream(g, s);
        break;
    case LOOK:
        look(g, s);
        break;
    case TELL:
        tell(g, s);
        break;
    case SETTLE:
        settle(g, s);
        break;
    case ARM:
        arm(g, s);
        break;
    case CREATE:
        s->step = round_creates(g, s) ? READ : PUT;
        break;
    case READ:
        round_reads(g, s);
        s->step = FINISH;
        break;
    case FINISH:
        round_finishes(g, s);
        s->step = CREATE;
        break;
    case PUT:
        put(g, s);
        break;
    case ANSWER:
        (s->kind == STREAM ? answer_stream : answer_poll)(g, s);
        break;
    }
    return 1;
}
