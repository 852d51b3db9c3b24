/* SPDX-License-Identifier: Apache-2.0 */
/* The protocol played at random against an oracle: what was committed is shown, and shown once.
 *
 * Writers commit rows to two tables and notify, or die before they do. Servers take polls, arm, compare, sleep, run two methods step
 * by step, stage and answer, or die within; a feed hears of what was acknowledged; somebody writes a property from outside. One browser reads, loses connections, polls again; polls are delivered late and twice;
 * acknowledgements come by the side; another tab tries its luck; the page is dropped. Each step is one move of the game, so that all
 * interleavings of the steps are possible; the oracle is what the browser shows. At the end nothing is lost any more, everything that
 * can move moves, and what the browser shows must be what the tables hold.
 */
#include <string.h>

#include "apr_strings.h"

#include "page_game.h"
#include "unit.h"

#define GAMES 2000
#define MOVES 1000

/* Another tab with the page's id: it gets nothing, and what it does changes nothing. */
static void a_stranger_polls(game_t *g)
{
    vault_take_t take = {game_pick(g, 2) ? g->seq : g->seq + 1000, {5000, 5000}, NULL, NOW, NOW};
    vault_ticket_t ticket;

    if (g->tab && g->seq) { /* the browser has said its tab before the first answer came */
        apr_status_t rv = vault_page_take(g->pages, &g->page, &take, &ticket);
        g->touched += rv != APR_EMISMATCH && rv != APR_NOTFOUND;
    }
}

/* A form of the page's own, say. */
static void somebody_writes(game_t *g)
{
    apr_array_header_t *list = apr_array_make(g->pool, 1, sizeof(vault_property_t));
    vault_property_t *p = apr_array_push(list);
    vault_write_t write = {list, NULL, 0, NULL};
    apr_status_t rv;

    p->key = "outside";
    p->value = apr_itoa(g->pool, (int)g->property + 1);
    rv = vault_page_write(g->pages, &g->page, NULL, &write, g->pool);
    if (rv == APR_SUCCESS) {
        g->property++;
    }
    g->touched += rv != APR_SUCCESS && rv != APR_NOTFOUND;
}

static void something_goes_wrong(game_t *g)
{
    switch (game_pick(g, 12)) {
    case 0:
    case 1:
    case 2:
        g->connection = 0; /* the connection breaks: whatever comes on it is lost */
        break;
    case 3:
    case 4:
    case 5:
        browser_sends(g, game_pick(g, 2) ? g->seq : g->before, 0); /* one that comes late, of which nobody hears */
        break;
    case 6:
    case 7:
        a_stranger_polls(g);
        break;
    case 8:
    case 9:
        browser_acknowledges(g);
        break;
    case 10:
        server_dies(g, &g->server[game_pick(g, SERVERS)]);
        break;
    default:
        if (game_chance(g, 20)) {
            vault_page_drop(g->pages, &g->page);
        }
    }
}

static void move(game_t *g)
{
    unsigned dice = game_pick(g, 100);

    g->dozes -= g->dozes > 0;
    if (dice < 80) {
        server_serves(g, &g->server[game_pick(g, SERVERS)]);
    }
    else if (dice < 82) {
        game_write_row(g, (int)game_pick(g, TABLES));
    }
    else if (dice < 85) {
        game_announce(g, (int)game_pick(g, TABLES));
    }
    else if (dice < 86) {
        somebody_writes(g);
    }
    else if (dice >= 86 + g->noise) {
        if (!g->connection && !g->dozes) {
            browser_polls(g);
        }
    }
    else {
        something_goes_wrong(g);
    }
}

/* Nothing is lost any more. @return 0 when it never comes to rest */
static int come_to_rest(game_t *g)
{
    int idle = 0, moves = 0, i;

    g->quiet = 1;
    for (i = 0; i < TABLES; i++) {
        if (g->unannounced[i]) { /* once is enough */
            game_announce(g, i);
        }
    }
    while (idle < 400 && moves++ < 100000) { /* so often nothing moved: nothing can */
        int moved = server_serves(g, &g->server[game_pick(g, SERVERS)]);
        if (!g->connection) {
            browser_polls(g);
            moved = 1;
        }
        idle = moved ? 0 : idle + 1;
    }
    return idle >= 400;
}

static void game_begin(game_t *g, unsigned seed)
{
    int i;

    memset(g, 0, sizeof(*g));
    pages_begin(&g->f, &g->pages, 4, 512 * 1024);
    g->pool = g->f.pool;
    g->seed = seed;
    g->noise = 1 + seed % 8;
    g->next_pid = 1000;
    for (i = 0; i < SERVERS; i++) {
        g->server[i].pid = g->next_pid++;
        apr_pool_create(&g->server[i].pool, g->pool);
        CU_ASSERT_FATAL(vault_slot_claim(g->f.notifier, g->server[i].pid, &g->server[i].slot) == APR_SUCCESS);
    }
    browser_loads(g);
}

static int shows_all(const game_t *g)
{
    int m, t, all = 1;

    for (m = 0; m < METHODS; m++) {
        for (t = 0; t < TABLES; t++) {
            all &= !game_reads[m][t] || (g->shown.rows[m][t] & g->data[t]) == g->data[t];
        }
    }
    return all;
}

/* A page at rest is not forgotten: one more row reaches it. */
static int hears_of_one_more(game_t *g)
{
    int t;

    for (t = 0; t < TABLES; t++) {
        g->data[t] |= APR_UINT64_C(1) << 63;
        g->unannounced[t] = 1;
    }
    return come_to_rest(g) && shows_all(g);
}

/* At rest the feed has heard of the latest round that counted; those before it may have been lost with a server. */
static int has_told_all(const game_t *g)
{
    return (!g->shown_round || g->round[g->shown_round].told) && (!g->last_quiet || g->round[g->last_quiet].told);
}

/* At rest a page holds what its states name: its own interest and the tables'. */
static void game_end(game_t *g)
{
    vault_page_drop(g->pages, &g->page);
    CU_ASSERT_EQUAL(vault_pages_count(g->pages), 0);
    CU_ASSERT_EQUAL(vault_interest_count(g->f.notifier), 0);
    CU_ASSERT_EQUAL(vault_heap_used(g->f.heap), 0);
    CHECK_PAGES(&g->f, g->pages);
    fixture_end(&g->f);
}

static void what_is_committed_is_shown_once(void)
{
    static game_t g;
    unsigned seed, k, lost = 0, restless = 0, doubled = 0, wrong = 0, shows = 0, expired = 0, untold = 0, rare[5] = {0};

    for (seed = 1; seed <= GAMES; seed++) {
        game_begin(&g, seed);
        for (k = 0; k < MOVES; k++) {
            move(&g);
        }
        restless += !come_to_rest(&g);
        lost += !hears_of_one_more(&g);
        if (!shows_all(&g)) {
            printf("\n    game %u: something is lost", seed);
            lost++;
        }
        if (g.doubled) {
            printf("\n    game %u: something was shown twice", seed);
            doubled++;
        }
        untold += !has_told_all(&g);
        wrong += g.reused + g.touched + g.unpublished + g.mistold + g.forgotten;
        shows += g.shows;
        expired += g.expired;
        rare[0] += g.redelivered;
        rare[1] += g.overtaken;
        rare[2] += g.failures;
        rare[3] += g.aside;
        rare[4] += g.discarded;
        game_end(&g);
    }
    CU_ASSERT_EQUAL(lost, 0);
    CU_ASSERT_EQUAL(doubled, 0);
    CU_ASSERT_EQUAL(restless, 0);
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(untold, 0);
    CU_ASSERT(shows > GAMES * 3); /* else the games say nothing */
    CU_ASSERT(expired > GAMES / 20);
    for (k = 0; k < 5; k++) {
        CU_ASSERT(rare[k] > GAMES / 2);
    }
}

void vault_page_model_suite(void)
{
    CU_pSuite suite = CU_add_suite("page_model", NULL, NULL);

    CU_ADD_TEST(suite, what_is_committed_is_shown_once);
}
