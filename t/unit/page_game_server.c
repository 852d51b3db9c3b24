/* SPDX-License-Identifier: Apache-2.0 */
/* A server of the game: takes a poll, arms, compares, sleeps, runs methods step by step, stages and answers. */
#include "page_game.h"

#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

static void serve_no_more(server_t *s)
{
    s->step = FREE;
    apr_pool_clear(s->pool);
}

static int is_heard(const game_t *g, const server_t *s)
{
    return g->connection && s->connection == g->connection;
}

static void hear_nothing(game_t *g, server_t *s)
{
    if (is_heard(g, s)) {
        g->connection = 0;
    }
    serve_no_more(s);
}

void server_dies(game_t *g, server_t *s)
{
    unsigned slot;

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
        g->expired++;
        vault_page_drop(g->pages, &g->page);
        browser_loads(g);
    }
}

static void accept_poll(game_t *g, server_t *s, request_t *r)
{
    vault_take_t take = {r->seq, {r->tab, r->tab}, NULL, NOW, NOW};

    r->there = 0;
    s->connection = r->connection;
    if (vault_page_take(g->pages, &r->page, &take, &s->ticket) != APR_SUCCESS) {
        hear_expired(g, s);
        return;
    }
    g->redelivered += s->ticket.redelivers != 0;
    s->step = LOOK;
}

static void wait_for(server_t *s, vault_interest_t interest)
{
    int i;

    for (i = 0; i < s->count && s->waits[i] != interest; i++) {
    }
    if (i == s->count && s->count < (int)(sizeof(s->waits) / sizeof(s->waits[0]))) {
        s->waits[s->count++] = interest;
    }
}

/* Arm the interests of a method, and compare: arm first (notifier.h). */
static int arm_method(game_t *g, server_t *s, const vault_method_t *m)
{
    int k, moved = m->deps == NULL;

    for (k = 0; m->deps && k < m->deps->nelts; k++) {
        const vault_dep_t *d = &((vault_dep_t *)m->deps->elts)[k];
        wait_for(s, d->interest);
        moved |= vault_interest_arm(g->f.notifier, d->interest, s->slot) > d->stamp;
    }
    return moved;
}

/* What was written from outside is there from then on. */
static void check_property(game_t *g, const server_t *s)
{
    const vault_property_t *p = vault_state_property(s->base, "outside");

    if (memcmp(&s->ticket.page, &g->page, sizeof(g->page)) == 0) {
        g->forgotten += (p ? (unsigned)atoi(p->value) : 0) != g->property;
    }
}

static void tell(game_t *g, server_t *s)
{
    int i;

    for (i = 0; i < s->base->acks->nelts; i++) {
        unsigned round = (unsigned)atoi(APR_ARRAY_IDX(s->base->acks, i, vault_ack_t).data);
        g->mistold += !g->round[round].counts;
        g->round[round].told = 1;
    }
    s->step = SETTLE;
}

static void look(game_t *g, server_t *s)
{
    int m, moved = 0;
    apr_status_t rv;

    apr_pool_clear(s->pool);
    s->count = 0;
    wait_for(s, s->ticket.interest);
    vault_interest_arm(g->f.notifier, s->ticket.interest, s->slot);
    rv = vault_page_look(g->pages, &s->ticket, &s->base, s->pool);
    if (rv == APR_EAGAIN) {
        s->step = SLEEP;
        return;
    }
    if (rv != APR_SUCCESS) {
        g->overtaken += rv == APR_ECONNABORTED;
        (rv == APR_NOTFOUND ? hear_expired : hear_nothing)(g, s);
        return;
    }
    check_property(g, s);
    for (m = 0; m < METHODS; m++) {
        moved |= s->moved[m] = arm_method(g, s, vault_state_method(s->base, game_method[m]));
    }
    s->step = moved ? CREATE : SLEEP;
    if (s->base->acks->nelts) {
        s->next = s->step;
        s->step = TELL;
    }
    if (moved) {
        s->method = -1;
        s->has_news = 0;
        memset(&s->news, 0, sizeof(s->news));
        s->run = vault_run_create(g->pages, &s->ticket.page, s->base, s->pool);
        s->round = ++g->rounds < ROUNDS ? g->rounds : 0;
    }
}

/* @return whether it was woken */
static int drain(game_t *g, server_t *s)
{
    vault_interest_t list[VAULT_SLOT_QUEUE];
    unsigned count, i;
    int k, woken = vault_slot_drain(g->f.notifier, s->slot, list, VAULT_SLOT_QUEUE, &count);

    for (i = 0; i < count; i++) {
        for (k = 0; k < s->count; k++) {
            woken |= s->waits[k] == list[i];
        }
    }
    if (woken) {
        s->step = LOOK;
    }
    return woken;
}

/* The next method that has moved: create its interests, all before it game_reads. */
static void create_interests(server_t *s)
{
    int t;

    do {
        s->method++;
    } while (s->method < METHODS && !s->moved[s->method]);
    if (s->method == METHODS) {
        s->step = PUT;
        return;
    }
    vault_run_begin(s->run, game_method[s->method]);
    vault_run_on_ack(s->run, "feed", apr_itoa(s->pool, (int)s->round));
    for (t = 0; t < TABLES; t++) {
        s->look[t] = game_reads[s->method][t] && game_create(s->run, t);
    }
    s->step = READ;
}

/* Whoever is told that nothing happened does not look. */
static void read_tables(game_t *g, server_t *s)
{
    int t;

    for (t = 0; t < TABLES; t++) {
        s->found[t] = s->look[t] ? game_read_rows(g, s->run, t) : 0;
        if (!g->quiet && game_reads[s->method][t] && game_chance(g, 20)) {
            game_write_row(g, t);
            game_announce(g, t);
            game_create(s->run, t); /* once more, too late for what was read */
        }
    }
    s->step = FINISH;
}

static void finish_method(game_t *g, server_t *s)
{
    int t, ok = g->quiet || !game_chance(g, 7 * g->noise);

    g->failures += !ok;
    s->step = CREATE;
    if (!vault_run_end(s->run, ok)) {
        return;
    }
    for (t = 0; t < TABLES; t++) {
        s->news.rows[s->method][t] = s->found[t];
        s->has_news |= s->found[t] != 0;
    }
}

static void put(game_t *g, server_t *s)
{
    vault_state_t *next = vault_run_state(s->run);
    apr_uint64_t seq = s->base->seq;
    apr_status_t rv =
        s->has_news ? vault_page_stage(g->pages, &s->ticket, next) : vault_page_commit(g->pages, &s->ticket, next);

    if (rv == APR_EAGAIN) {
        g->discarded++;
        s->step = LOOK;
        return;
    }
    if (rv != APR_SUCCESS) {
        g->overtaken += rv == APR_ECONNABORTED;
        (rv == APR_NOTFOUND ? hear_expired : hear_nothing)(g, s);
        return;
    }
    s->seq = next->seq;
    s->step = s->has_news ? ANSWER : LOOK;
    if (!s->has_news) {
        g->touched += next->seq != seq; /* a quiet round keeps the number */
        g->round[s->round].counts = 1;
        if (next->acks->nelts && memcmp(&s->ticket.page, &g->page, sizeof(g->page)) == 0) {
            g->last_quiet = s->round;
        }
        return;
    }
    if (memcmp(&s->ticket.page, &g->page, sizeof(g->page)) == 0) {
        g->reused += next->seq <= g->highest; /* no number twice */
        g->highest = next->seq;
    }
}

static void answer(game_t *g, server_t *s)
{
    news_t news = s->news;
    apr_uint64_t seq = s->seq;
    int listens = is_heard(g, s);

    serve_no_more(s);
    if (listens) {
        g->connection = 0;
        g->round[s->round].counts = 1;
        g->shown_round = s->round;
        browser_shows(g, seq, &news);
    }
}

int server_serves(game_t *g, server_t *s)
{
    unsigned i = game_pick(g, WIRE);

    switch (s->step) {
    case FREE:
        if (g->wire[i].there) {
            accept_poll(g, s, &g->wire[i]);
            return 1;
        }
        return 0;
    case LOOK:
        look(g, s);
        return 1;
    case TELL:
        tell(g, s);
        return 1;
    case SETTLE:
        vault_page_settle(g->pages, &s->ticket);
        s->step = s->next;
        return 1;
    case SLEEP:
        return drain(g, s);
    case CREATE:
        create_interests(s);
        return 1;
    case READ:
        read_tables(g, s);
        return 1;
    case FINISH:
        finish_method(g, s);
        return 1;
    case PUT:
        put(g, s);
        return 1;
    default:
        answer(g, s);
        return 1;
    }
}
