/* SPDX-License-Identifier: Apache-2.0 */
/* The browser of the game: loads the page, polls, shows what it is told. */
#include "page_game.h"

#include <string.h>

int browser_sends(game_t *g, apr_uint64_t seq, unsigned connection)
{
    unsigned i = game_pick(g, WIRE);

    if (g->wire[i].there) {
        return 0;
    }
    g->wire[i].there = 1;
    g->wire[i].page = g->page;
    g->wire[i].seq = seq;
    g->wire[i].tab = g->tab;
    g->wire[i].connection = connection;
    return 1;
}

void browser_polls(game_t *g)
{
    g->connection = ++g->connections;
    if (!browser_sends(g, g->seq, g->connection)) {
        g->connection = 0;
        return;
    }
    if (!g->quiet && game_chance(g, 2 * g->noise)) {
        browser_sends(g, g->seq, g->connection); /* a proxy sends it twice */
    }
}

void browser_loads(game_t *g)
{
    vault_run_t *run;
    int m, t;

    CU_ASSERT_FATAL(vault_page_create(g->pages, &g->page, NULL, NOW, IDLE) == APR_SUCCESS);
    run = vault_run_create(g->pages, &g->page, vault_state_create(g->pool), g->pool);
    memset(&g->shown, 0, sizeof(g->shown));
    for (t = 0; t < TABLES; t++) {
        game_create(run, t);
        if (!g->quiet && game_chance(g, 30)) {
            game_write_row(g, (int)game_pick(g, TABLES));
        }
        g->shown.rows[0][t] = game_read_rows(g, run, t);
    }
    for (m = 0; m < METHODS; m++) {
        vault_run_add_method(run, game_method[m], METHODS);
        memcpy(g->shown.rows[m], g->shown.rows[0], sizeof(g->shown.rows[m]));
    }
    vault_run_end(run, 1);
    g->seq = g->before = g->highest = 0;
    g->property = g->shown_round = g->last_quiet = 0;
    g->dozes = 0;
    g->tab = game_chance(g, 50) ? 0 : 1 + game_pick(g, 1000);
    browser_polls(g);
    if (vault_page_publish(g->pages, &g->page, vault_run_state(run)) != APR_SUCCESS) {
        g->unpublished++;
    }
}

void browser_shows(game_t *g, apr_uint64_t seq, const news_t *news)
{
    int m, t;

    for (m = 0; m < METHODS; m++) {
        for (t = 0; t < TABLES; t++) {
            g->doubled += (g->shown.rows[m][t] & news->rows[m][t]) != 0;
            g->shown.rows[m][t] |= news->rows[m][t];
        }
    }
    g->before = g->seq;
    g->seq = seq;
    g->shows++;
    if (!g->quiet && game_chance(g, 4 * g->noise)) {
        g->dozes = game_pick(g, 200); /* its next poll takes a long way */
        return;
    }
    browser_polls(g);
}

void browser_acknowledges(game_t *g)
{
    vault_take_t take = {g->seq, {g->tab, g->tab}, NULL, NOW, NOW};

    g->aside += page_acknowledge(g->pages, &g->page, &take) == APR_SUCCESS;
    g->connection = 0;
}
