/* SPDX-License-Identifier: Apache-2.0 */
/* A round of the game: the methods that have moved, one after the other and each in steps, and the result. */
#include "page_game.h"

#include <string.h>

#include "apr_strings.h"

void round_begins(game_t *g, server_t *s)
{
    s->method = -1;
    s->has_news = s->counts = 0;
    memset(&s->news, 0, sizeof(s->news));
    s->txn = vault_page_txn_create(g->pages, &s->ticket.page, s->base, s->pool);
    vault_page_txn_saw(s->txn, vault_interest_set_stamps(&s->interests, s->pool));
    if (s->base->seq != s->ticket.committed) {
        vault_page_txn_carry_acks(s->txn);
    }
    s->round = ++g->rounds < ROUNDS ? g->rounds : 0;
}

/* ------------------------------------------------------------ calls from outside */

static int place_of(const vault_state_t *base, const char *url)
{
    return (int)(vault_state_method(base, url) - (vault_method_t *)base->methods->elts);
}

/* @return 0: the round is void */
static int open_calls(game_t *g, server_t *s)
{
    vault_calls_base_t *b = apr_pcalloc(s->pool, sizeof(*b));

    s->call = NULL;
    if (!game_chance(g, g->outside)) {
        return 1;
    }
    s->calls.key = 1;
    if (vault_page_calls_open(g->pages, &s->calls, &s->ticket, place_of(s->base, game_method[s->method])) !=
            APR_SUCCESS ||
        vault_page_calls_read(g->pages, &s->calls, b, s->pool) != APR_SUCCESS) {
        return 0;
    }
    s->call = vault_page_txn_create_call(g->pages, &s->calls, b, s->pool);
    return 1;
}

/* @return 0: the round is void */
static int close_calls(game_t *g, server_t *s, int *ok)
{
    vault_state_t *made;
    apr_status_t rv;

    if (!s->call) {
        return 1;
    }
    if (vault_page_calls_add(g->pages, &s->calls, vault_page_txn_made(s->call), s->pool) != APR_SUCCESS) {
        g->rare[CALLED_IN_VAIN]++;
        *ok = 0; /* the application gets the error, and fails */
    }
    rv = vault_page_calls_close(g->pages, &s->calls, &made, s->pool);
    g->over = s->calls;
    s->call = NULL;
    if (rv == APR_SUCCESS && made) {
        vault_page_txn_take(s->txn, made);
        g->rare[CALLED] += *ok;
    }
    return rv == APR_SUCCESS;
}

void round_is_called_late(game_t *g)
{
    vault_calls_base_t *b = apr_pcalloc(g->pool, sizeof(*b));
    vault_state_t *made = vault_state_create(g->pool);
    vault_method_t *m = apr_array_push(made->methods);
    vault_interest_t interest;
    apr_uint64_t stamp;
    apr_status_t rv;

    if (!g->over.run) {
        return;
    }
    m->url = game_method[0];
    m->deps = apr_array_make(g->pool, 1, sizeof(vault_dep_t));
    rv = vault_page_calls_add(g->pages, &g->over, made, g->pool);
    g->touched += rv != APR_ECONNABORTED && rv != APR_NOTFOUND;
    g->touched += vault_page_calls_hold(g->pages, &g->over, "late", &interest, &stamp) != rv;
    g->touched += vault_page_calls_read(g->pages, &g->over, b, g->pool) != rv;
    g->rare[CALLED_LATE]++;
}

/* -------------------------------------------------------------------- its methods */

/* The transaction that reads. */
static vault_page_txn_t *reader(server_t *s)
{
    return s->call ? s->call : s->txn;
}

int round_creates(game_t *g, server_t *s)
{
    int t;

    do {
        s->method++;
    } while (s->method < METHODS && !s->moved[s->method]);
    if (s->method == METHODS) {
        return 0;
    }
    vault_page_txn_begin(s->txn, game_method[s->method]);
    if (!open_calls(g, s)) {
        return 0;
    }
    if (g->feeds) {
        vault_page_txn_on_ack(reader(s), "feed", apr_itoa(s->pool, (int)s->round));
    }
    for (t = LOGS; t <= USERS; t++) {
        s->look[t] = game_reads[s->method][t] && game_create(reader(s), (table_t)t);
    }
    if (s->method == ROOM_METHOD) {
        game_create(reader(s), LOGS);
    }
    return 1;
}

/* A method that is told that nothing happened does not read the data. */
void round_reads(game_t *g, server_t *s)
{
    int t;

    for (t = LOGS; t <= USERS; t++) {
        s->found[t] = s->look[t] ? game_read_rows(g, reader(s), (table_t)t) : 0;
        if (!g->quiet && game_reads[s->method][t] && game_chance(g, 20)) {
            game_announce(g, game_write_row(g, (table_t)t));
            game_create(reader(s), (table_t)t); /* once more, too late for what was read */
        }
    }
    s->found[ROOMS] = 0;
    if (s->method == ROOM_METHOD) {
        s->room = game_room(g);
        s->found[ROOMS] = game_read_room(g, reader(s), s->room);
    }
}

/* The method's results are discarded. The page is told, unless it knows already. */
static void is_refused(game_t *g, server_t *s)
{
    unsigned status = game_chance(g, 80) ? 401 : 302;

    g->rare[REFUSED]++;
    if (!vault_page_txn_is_refused(s->txn, status)) {
        s->news.refused[s->method] = status;
        s->has_news = 1;
    }
    vault_page_txn_refuse(s->txn, status, g->now);
}

void round_finishes(game_t *g, server_t *s)
{
    int t, ok = g->quiet || !game_chance(g, 7 * g->noise);

    g->rare[FAILED] += !ok;
    if (!close_calls(g, s, &ok)) {
        vault_page_txn_end(s->txn, 0);
        s->method = METHODS - 1; /* the remaining methods need not run */
        return;
    }
    if (!g->quiet && game_chance(g, 5)) {
        is_refused(g, s);
        return;
    }
    if (s->method == ROOM_METHOD) {
        vault_page_txn_learn_interest(s->txn, game_topic[ROOMS + s->room]);
    }
    if (!vault_page_txn_end(s->txn, ok)) {
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
    vault_state_t *next = vault_page_txn_state(s->txn);
    apr_uint64_t seq = s->base->seq;
    apr_status_t rv =
        s->has_news ? vault_page_stage(g->pages, &s->ticket, next) : vault_page_commit(g->pages, &s->ticket, next);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    CU_ASSERT_FATAL(next->seq < ANSWERS);
    s->seq = next->seq;
    if (s->has_news) {
        g->reused += next->seq <= g->highest; /* no number is used twice */
        g->highest = next->seq;
        g->from[next->seq] = seq;
    }
    else {
        g->touched += next->seq != seq; /* a round without updates keeps the number */
    }
    note_round(g, s, next);
    game_check_round(g, next->seq);
    return APR_SUCCESS;
}
