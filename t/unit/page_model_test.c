/* SPDX-License-Identifier: Apache-2.0 */
/* Plays the protocol at random against an oracle: every committed row is shown, and shown once.
 *
 * Writers commit rows to tables and notify, or die before they do. Servers take polls and streams, read, report
 * acknowledgements to feeds, arm, compare, sleep, run methods step by step, some of which fail or are refused,
 * stage and answer, or die in between. A request writes a property from outside. One browser reads, loses
 * connections, even in the middle of an event, and polls again with the number that it shows. Requests are
 * delivered late and twice. Separate acknowledgements arrive early, late or hardly ever. A poll takes over from
 * a stream and vice versa. An application calls the feed externally during its run, or too late. Another tab
 * polls for the page. The page is dropped. Each step is one move of the game, so all interleavings of the steps
 * are possible.
 *
 * The oracle is what the browser shows and, after each round, what the page holds: exactly what its states
 * depend on. At the end nothing is lost any more, everything that can move moves, and then the browser must
 * show the rows of the tables.
 */
#include <string.h>

#include "apr_strings.h"

#include "page_game.h"
#include "unit.h"

#define GAMES 1200
#define MOVES 4000
/* A page is at rest if nothing moved in so many steps. */
#define AT_REST 400

/* --------------------------------------------------------------------- the moves */

/* Another tab with the page's id: it gets nothing, and changes nothing. */
static void a_stranger_polls(game_t *g)
{
    vault_take_t take = {game_pick(g, 2) ? g->seq : g->seq + 1000, {5000, 5000}, {0}, NOW, NOW};
    vault_ticket_t ticket;

    if (g->tab && g->seq) { /* the browser has said its tab before the first answer came */
        apr_status_t rv = game_pick(g, 2) ? vault_page_take(g->pages, &g->page, &take, &ticket)
                                          : vault_page_acknowledge(g->pages, &g->page, &take, &ticket);
        g->touched += rv != APR_EMISMATCH && rv != APR_NOTFOUND;
    }
}

/* For instance a form of the page. */
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

/* A request that comes late, whose answer is lost. */
static void a_request_comes_late(game_t *g)
{
    kind_t kind = game_chance(g, 20) ? ACKNOWLEDGEMENT : game_chance(g, g->streams) ? STREAM : POLL;

    browser_sends(g, kind, game_pick(g, 2) ? g->seq : g->before, 0);
}

static void something_goes_wrong(game_t *g)
{
    switch (game_pick(g, g->noise > HONEST ? 12 : 8)) {
    case 0:
    case 1:
    case 2:
        browser_hangs_up(g);
        break;
    case 3: /* it leaves a page that it may return to */
    case 4:
        browser_sends(g, ACKNOWLEDGEMENT, g->seq, 0);
        browser_hangs_up(g);
        break;
    case 5:
    case 6:
        a_stranger_polls(g);
        break;
    case 7:
        server_dies(g, &g->server[game_pick(g, SERVERS)]);
        break;
    case 8:
    case 9:
    case 10:
        a_request_comes_late(g);
        break;
    default:
        if (game_chance(g, 20)) {
            vault_page_drop(g->pages, &g->page);
        }
    }
}

/* Acknowledges answers of its stream; `chance` that it does so now. @return 1: there was something to
 * acknowledge */
static int acknowledge(game_t *g, unsigned chance)
{
    if (!g->connection || g->said == g->seq) {
        return 0;
    }
    if (game_chance(g, chance) && browser_sends(g, ACKNOWLEDGEMENT, g->seq, 0)) {
        g->said = g->seq;
    }
    return 1;
}

/* @return 1: something has moved */
static int browser_moves(game_t *g, unsigned chance)
{
    if (!g->connection) {
        browser_polls(g);
        return 1;
    }
    return browser_reads(g) || acknowledge(g, chance);
}

static void move(game_t *g)
{
    static const unsigned acknowledges[] = {100, 10, 1, 1};
    unsigned dice = game_pick(g, 1000);

    g->now += apr_time_from_sec(game_pick(g, 2));
    g->dozes -= g->dozes > 0;
    if (dice < 800) {
        server_serves(g, &g->server[game_pick(g, SERVERS)]);
    }
    else if (dice < 820) {
        game_write_row(g, (table_t)game_pick(g, TABLES));
    }
    else if (dice < 880) {
        game_announce(g, (int)game_pick(g, TOPICS));
    }
    else if (dice < 883) {
        somebody_writes(g);
    }
    else if (dice < 885) {
        round_is_called_late(g);
    }
    else if (dice < 885 + 3 * g->noise) {
        something_goes_wrong(g);
    }
    else if (!g->dozes) {
        browser_moves(g, acknowledges[g->lazy]);
    }
}

/* From now on nothing is lost. @return 0: it never comes to rest */
static int come_to_rest(game_t *g)
{
    int idle = 0, moves = 0, i;

    g->quiet = 1;
    g->said = APR_UINT64_MAX; /* what it said before may not have arrived */
    for (i = 0; i < TOPICS; i++) {
        if (g->unannounced[i]) { /* one notify announces all commits */
            game_announce(g, i);
        }
    }
    while (idle < AT_REST && moves++ < 100000) {
        g->now += APR_USEC_PER_SEC; /* all refused methods are tried again before it is at rest */
        int moved = server_serves(g, &g->server[game_pick(g, SERVERS)]) | browser_moves(g, 100);
        idle = moved ? 0 : idle + 1;
    }
    return idle >= AT_REST;
}

/* --------------------------------------------------------------------- the game */

static void game_begin(game_t *g, unsigned seed)
{
    static const unsigned noise[] = {0, 0, 0, 1, 2, 3, 4, 6, 8};
    int i;

    memset(g, 0, sizeof(*g));
    pages_begin(&g->f, &g->pages, 4, 512 * 1024);
    g->pool = g->f.pool;
    g->seed = seed;
    g->now = NOW;
    g->noise = noise[seed % 9];
    g->streams = seed / 9 % 3 * 50;
    g->lazy = seed / 27 % 4;
    g->feeds = seed / 108 % 2;
    g->outside = seed / 216 % 3 * 50;
    g->next_pid = 1000;
    for (i = 0; i < SERVERS; i++) {
        g->server[i].pid = g->next_pid++;
        apr_pool_create(&g->server[i].pool, g->pool);
        CU_ASSERT_FATAL(vault_slot_claim(g->f.notifier, g->server[i].pid, &g->server[i].slot) == APR_SUCCESS);
    }
    browser_loads(g);
}

/* The last method shows the room that the table LOGS says. */
static rows_t rows_to_show(const game_t *g, int method, int table)
{
    if (!game_reads[method][table]) {
        return 0;
    }
    return g->data[table] & (table == ROOMS ? game_rows_of_room(game_room(g)) : ~APR_UINT64_C(0));
}

static int shows_all(const game_t *g)
{
    int m, t, all = 1;

    for (m = 0; m < METHODS; m++) {
        for (t = 0; t < TABLES; t++) {
            all &= (rows_to_show(g, m, t) & ~g->shown.rows[m][t]) == 0;
        }
    }
    return all;
}

/* A page at rest still works: one more row reaches it. */
static int hears_of_one_more(game_t *g)
{
    int i;

    for (i = 0; i < TABLES; i++) {
        g->data[i] |= APR_UINT64_C(1) << 63;
    }
    for (i = 0; i < TOPICS; i++) {
        g->unannounced[i] = 1;
    }
    return come_to_rest(g) && shows_all(g);
}

/* At rest, the feed has got the reports for every answer that is shown, and for the latest round without
 * updates; earlier rounds of that kind may have been lost with a server. */
static int has_told_all(const game_t *g)
{
    unsigned i;

    for (i = 1; i <= g->rounds && i < ROUNDS; i++) {
        const round_t *r = &g->round[i];
        if (g->feeds && r->page == g->loads && r->news && r->counts && !r->told) {
            return 0;
        }
    }
    return !g->last_quiet || !g->round[g->last_quiet].counts || g->round[g->last_quiet].told;
}

static void game_end(game_t *g)
{
    game_check(g);
    vault_page_drop(g->pages, &g->page);
    CU_ASSERT_EQUAL(vault_pages_count(g->pages), 0);
    CU_ASSERT_EQUAL(vault_interest_count(g->f.notifier), 0);
    CU_ASSERT_EQUAL(vault_heap_used(g->f.heap), 0);
    CHECK_PAGES(&g->f, g->pages);
    fixture_end(&g->f);
}

/* A fault, with its sentence. @return `count` */
static unsigned say(unsigned seed, unsigned count, const char *what)
{
    if (count) {
        printf("\n    game %u: %s", seed, what);
    }
    return count;
}

/* @return the number of faults */
static unsigned play(game_t *g, unsigned seed)
{
    unsigned k, wrong;

    game_begin(g, seed);
    for (k = 0; k < MOVES; k++) {
        move(g);
    }
    wrong = say(seed, !come_to_rest(g), "it never comes to rest");
    wrong += say(seed, !shows_all(g), "something is lost");
    wrong += say(seed, !hears_of_one_more(g), "a page at rest is forgotten");
    wrong += say(seed, g->doubled, "something was shown twice");
    wrong += say(seed, g->disordered, "an answer came after a later one");
    wrong += say(seed, g->reused, "a number was used twice");
    wrong += say(seed, g->touched, "something changed that must not");
    wrong += say(seed, g->untold, "a method is refused, and the page was not told");
    wrong += say(seed, g->forgotten, "what was written from outside is forgotten");
    wrong += say(seed, g->overfull, "more answers are on their way than the chain has places");
    wrong += say(seed, g->noise <= HONEST && g->rare[EXPIRED], "a page expired, and nothing had come late or twice");
    wrong += say(seed, g->unpublished, "a page could not be published");
    wrong += say(seed, g->mistold, "a feed was told of what the browser does not have");
    wrong += say(seed, !has_told_all(g), "a feed was not told of what the browser has");
    game_end(g);
    return wrong + say(seed, g->unsound != NULL, g->unsound);
}

/* Without these events the games prove nothing. */
static const char *const must_happen[RARE] = {
    [REDELIVERED] = "an answer that was staged before is made again",
    [OVERTAKEN] = "a server has lost its page to another",
    [FAILED] = "a method fails",
    [REFUSED] = "a method is refused",
    [TRIED_AGAIN] = "a method that was refused works again",
    [ASIDE] = "an acknowledgement comes by itself",
    [DISCARDED] = "a round is void, since a request has written to the page",
    [EXPIRED] = "a page has to be loaded again",
    [EARLY] = "a request comes before the page is published",
    [FULL] = "a stream has no room",
    [ROOM_AGAIN] = "a stream without room is acknowledged",
    [BESIDE_A_ROUND] = "a stream that runs methods is acknowledged",
    [CUT] = "a connection breaks with events on it",
    [STREAM_KILLED] = "a child is killed with its stream",
    [TAKEN_BY_POLL] = "a poll takes over from a stream",
    [TAKEN_BY_STREAM] = "a stream takes over from another",
    [CALLED] = "what a call from outside has done counts",
    [CALLED_IN_VAIN] = "a call from outside is told that its run is over",
    [CALLED_LATE] = "a call comes for a run that is over",
};

static void what_is_committed_is_shown_once(void)
{
    static game_t g;
    unsigned seed, k, wrong = 0, shows = 0, rare[RARE] = {0};

    for (seed = 1; seed <= GAMES; seed++) {
        wrong += play(&g, seed);
        shows += g.shows;
        for (k = 0; k < RARE; k++) {
            rare[k] += g.rare[k];
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(shows > GAMES * 10);
    for (k = 0; k < RARE; k++) {
        CHECK_ROW(rare[k] > GAMES / 20, must_happen[k]);
    }
}

void vault_page_model_suite(void)
{
    CU_pSuite suite = CU_add_suite("page_model", NULL, NULL);

    CU_ADD_TEST(suite, what_is_committed_is_shown_once);
}
