/* SPDX-License-Identifier: Apache-2.0 */
/* The browser of the game: loads the page, polls or reads a stream, and applies answers. */
#include "page_game.h"

#include <string.h>

int browser_sends(game_t *g, kind_t kind, apr_uint64_t seq, unsigned connection)
{
    unsigned i = game_pick(g, WIRE);

    if (g->wire[i].there) {
        return 0;
    }
    g->wire[i].there = 1;
    g->wire[i].kind = kind;
    g->wire[i].page = g->page;
    g->wire[i].seq = seq;
    g->wire[i].tab = g->tab;
    g->wire[i].connection = connection;
    return 1;
}

void browser_hangs_up(game_t *g)
{
    g->rare[CUT] += g->connection && g->events;
    g->connection = g->events = 0;
    g->closed = 0;
}

/* A proxy sends the request twice, and forwards one of the two streams; of two answers the browser takes the
 * first. */
static int send_twice(game_t *g, kind_t kind)
{
    unsigned first = g->connection, second = g->connection;
    int sent;

    if (kind == STREAM) {
        *(game_chance(g, 50) ? &first : &second) = 0;
    }
    sent = browser_sends(g, kind, g->seq, first) && first;
    return (browser_sends(g, kind, g->seq, second) && second) || sent;
}

void browser_polls(game_t *g)
{
    kind_t kind = game_chance(g, g->streams) ? STREAM : POLL;
    int twice = g->noise > HONEST && !g->quiet && game_chance(g, 2 * g->noise), sent;

    browser_hangs_up(g);
    g->connection = ++g->connections;
    sent = twice ? send_twice(g, kind) : browser_sends(g, kind, g->seq, g->connection);
    if (sent) {
        g->said = g->seq;
    }
    else {
        g->connection = 0;
    }
}

/* Events while the HTML is still being rendered. */
static void hurry(game_t *g)
{
    unsigned moves = game_pick(g, 12);

    browser_polls(g);
    while (moves--) {
        if (game_chance(g, 15)) {
            browser_polls(g);
        }
        server_serves(g, &g->server[game_pick(g, SERVERS)]);
    }
}

void browser_loads(game_t *g)
{
    vault_page_txn_t *txn;
    int m, t;

    CU_ASSERT_FATAL(vault_page_create(g->pages, &g->page, NULL, NOW, IDLE) == APR_SUCCESS);
    g->loads++;
    browser_hangs_up(g);
    txn = vault_page_txn_create(g->pages, &g->page, vault_state_create(g->pool), g->pool);
    memset(&g->shown, 0, sizeof(g->shown));
    for (t = LOGS; t <= USERS; t++) {
        game_create(txn, (table_t)t);
        if (!g->quiet && game_chance(g, 30)) {
            game_write_row(g, (table_t)game_pick(g, TABLES));
        }
        g->shown.rows[0][t] = game_read_rows(g, txn, (table_t)t);
    }
    for (m = 0; m < METHODS; m++) {
        vault_page_txn_add_method(txn, game_method[m], METHODS);
        memcpy(g->shown.rows[m], g->shown.rows[0], sizeof(g->shown.rows[m]));
    }
    vault_page_txn_end(txn, 1);
    memset(g->has, 0, sizeof(g->has));
    g->seq = g->before = g->highest = 0;
    g->has[0] = 1;
    g->property = g->last_quiet = 0;
    g->dozes = 0;
    g->tab = game_chance(g, 50) ? 0 : 1 + game_pick(g, 1000);
    hurry(g);
    if (vault_page_publish(g->pages, &g->page, vault_page_txn_state(txn)) != APR_SUCCESS) {
        g->unpublished++;
    }
    game_check_round(g, 0);
}

/* A browser that shows an answer also has what later rounds without output have found. */
static void note_rounds(game_t *g)
{
    unsigned i;

    for (i = 1; i <= g->rounds && i < ROUNDS; i++) {
        g->round[i].counts |= g->round[i].published && g->round[i].page == g->loads && g->round[i].seq == g->seq;
    }
}

static void show(game_t *g, apr_uint64_t seq, const news_t *news)
{
    int m, t;

    for (m = 0; m < METHODS; m++) {
        for (t = 0; t < TABLES; t++) {
            g->doubled += (g->shown.rows[m][t] & news->rows[m][t]) != 0;
            g->shown.rows[m][t] |= news->rows[m][t];
        }
        g->shown.refused[m] = news->refused[m] ? news->refused[m] : g->shown.refused[m];
    }
    g->disordered += seq <= g->seq;
    g->before = g->seq;
    g->seq = seq;
    g->has[seq] = 1;
    g->shows++;
    note_rounds(g);
    if (!g->quiet && game_chance(g, 4 * g->noise)) {
        g->dozes = game_pick(g, 200); /* its next poll takes a long way, or the next event */
    }
}

void browser_shows(game_t *g, apr_uint64_t seq, const news_t *news)
{
    browser_hangs_up(g);
    show(g, seq, news);
    if (!g->dozes) {
        browser_polls(g);
    }
}

int browser_reads(game_t *g)
{
    event_t e = g->event[0];

    if (g->events) {
        memmove(g->event, g->event + 1, --g->events * sizeof(g->event[0]));
        show(g, e.seq, &e.news);
        return 1;
    }
    if (g->closed) {
        browser_hangs_up(g);
        return 1;
    }
    return 0;
}
