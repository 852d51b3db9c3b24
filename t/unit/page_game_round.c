/* SPDX-License-Identifier: Apache-2.0 */
/* A round of the game: the methods that have moved, one after the other and each in steps, and what they come to. */
#include "page_game.h"

#include <string.h>

#include "apr_strings.h"

void round_begins(game_t *g, server_t *s)
{
    s->method = -1;
    s->has_news = s->counts = 0;
    memset(&s->news, 0, sizeof(s->news));
    s->run = vault_run_create(g->pages, &s->ticket.page, s->base, s->pool);
    vault_run_saw(s->run, vault_watch_seen(&s->watch, s->pool));
    if (s->base->seq != s->ticket.committed) {
        vault_run_carry_acks(s->run);
    }
    s->round = ++g->rounds < ROUNDS ? g->rounds : 0;
}

int round_creates(const game_t *g, server_t *s)
{
    int t;

    do {
        s->method++;
    } while (s->method < METHODS && !s->moved[s->method]);
    if (s->method == METHODS) {
        return 0;
    }
    vault_run_begin(s->run, game_method[s->method]);
    if (g->feeds) {
        vault_run_on_ack(s->run, "feed", apr_itoa(s->pool, (int)s->round));
    }
    for (t = LOGS; t <= USERS; t++) {
        s->look[t] = game_reads[s->method][t] && game_create(s->run, (table_t)t);
    }
    if (s->method == ROOM_METHOD) {
        game_create(s->run, LOGS);
    }
    return 1;
}

/* Whoever is told that nothing happened does not look. */
void round_reads(game_t *g, server_t *s)
{
    int t;

    for (t = LOGS; t <= USERS; t++) {
        s->found[t] = s->look[t] ? game_read_rows(g, s->run, (table_t)t) : 0;
        if (!g->quiet && game_reads[s->method][t] && game_chance(g, 20)) {
            game_announce(g, game_write_row(g, (table_t)t));
            game_create(s->run, (table_t)t); /* once more, too late for what was read */
        }
    }
    s->found[ROOMS] = 0;
    if (s->method == ROOM_METHOD) {
        s->room = game_room(g);
        s->found[ROOMS] = game_read_room(g, s->run, s->room);
    }
}

/* Nothing that it did counts. The page is told, unless it knows. */
static void is_refused(game_t *g, server_t *s)
{
    unsigned status = game_chance(g, 80) ? 401 : 302;

    g->rare[REFUSED]++;
    if (!vault_run_is_refused(s->run, status)) {
        s->news.refused[s->method] = status;
        s->has_news = 1;
    }
    vault_run_refuse(s->run, status, g->now);
}

void round_finishes(game_t *g, server_t *s)
{
    int t, ok = g->quiet || !game_chance(g, 7 * g->noise);

    if (!g->quiet && game_chance(g, 5)) {
        is_refused(g, s);
        return;
    }
    g->rare[FAILED] += !ok;
    if (s->method == ROOM_METHOD) {
        vault_run_learn_interest(s->run, game_topic[ROOMS + s->room]);
    }
    if (!vault_run_end(s->run, ok)) {
        return;
    }
    s->counts = 1;
    g->rare[TRIED_AGAIN] += vault_state_method(s->base, game_method[s->method])->refusal.status != 0;
    for (t = 0; t < TABLES; t++) {
        s->news.rows[s->method][t] = s->found[t];
        s->has_news |= s->found[t] != 0;
    }
}

static void note_round(game_t *g, server_t *s, const vault_state_t *next)
{
    round_t *r = &g->round[s->round];

    r->page = g->loads;
    r->seq = next->seq;
    r->published = 1;
    r->news = s->has_news && s->counts;
    r->counts = g->has[next->seq] != 0;
    if (!s->has_news && s->counts && next->acks->nelts) {
        g->last_quiet = s->round;
    }
}

apr_status_t round_puts(game_t *g, server_t *s)
{
    vault_state_t *next = vault_run_state(s->run);
    apr_uint64_t seq = s->base->seq;
    apr_status_t rv =
        s->has_news ? vault_page_stage(g->pages, &s->ticket, next) : vault_page_commit(g->pages, &s->ticket, next);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    CU_ASSERT_FATAL(next->seq < ANSWERS);
    s->seq = next->seq;
    if (s->has_news) {
        g->reused += next->seq <= g->highest; /* no number twice */
        g->highest = next->seq;
        g->from[next->seq] = seq;
    }
    else {
        g->touched += next->seq != seq; /* a quiet round keeps the number */
    }
    note_round(g, s, next);
    game_check_round(g, next->seq);
    return APR_SUCCESS;
}
