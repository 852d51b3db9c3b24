/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of the game: random numbers, the tables and their writers, how a method reads them, and
 * the checks of a page. */
#include "page_game.h"

#include <stdlib.h>

#include "apr_strings.h"

#include "page/page_facts.h"

const char *const game_topic[TOPICS] = {"DB-logs", "DB-users", "room-0", "room-1", "room-2"};
const char *const game_method[METHODS] = {"/logs", "/both", "/room"};
const int game_reads[METHODS][TABLES] = {{1, 0, 0}, {1, 1, 0}, {0, 0, 1}};

#define ROOMS_CURSOR "rooms"

unsigned game_pick(game_t *g, unsigned n)
{
    return (unsigned)rand_r(&g->seed) / 7 % n;
}

int game_chance(game_t *g, unsigned percent)
{
    return game_pick(g, 100) < percent;
}

/* ------------------------------------------------------------------- a cursor */

static rows_t cursor_rows(const char *value)
{
    return value ? strtoull(value, NULL, 16) : 0;
}

static void set_cursor(game_t *g, vault_page_txn_t *txn, const char *key, rows_t rows)
{
    vault_page_txn_set_cursor(txn, key, apr_psprintf(g->pool, "%" APR_UINT64_T_HEX_FMT, rows));
}

int game_create(vault_page_txn_t *txn, table_t table)
{
    return vault_page_txn_create_interest(txn, game_topic[table], game_topic[table]);
}

rows_t game_read_rows(game_t *g, vault_page_txn_t *txn, table_t table)
{
    rows_t before = cursor_rows(vault_page_txn_cursor(txn, game_topic[table]));

    set_cursor(g, txn, game_topic[table], g->data[table]);
    return g->data[table] & ~before;
}

int game_room(const game_t *g)
{
    return __builtin_popcountll(g->data[LOGS]) % PARTS;
}

rows_t game_rows_of_room(int room)
{
    rows_t rows = 0;
    int i;

    for (i = room; i < 64; i += PARTS) {
        rows |= APR_UINT64_C(1) << i;
    }
    return rows;
}

rows_t game_read_room(game_t *g, vault_page_txn_t *txn, int room)
{
    rows_t before = cursor_rows(vault_page_txn_cursor(txn, ROOMS_CURSOR));
    rows_t rows = g->data[ROOMS] & game_rows_of_room(room);

    set_cursor(g, txn, ROOMS_CURSOR, before | rows);
    return rows & ~before;
}

/* ------------------------------------------------------------------ the writers */

void game_announce(game_t *g, int topic)
{
    g->unannounced[topic] = 0;
    vault_notifier_notify(g->f.notifier, game_topic[topic], 0);
}

int game_write_row(game_t *g, table_t table)
{
    unsigned row = game_pick(g, ROWS);
    int topic = table == ROOMS ? (int)(ROOMS + row % PARTS) : (int)table;

    g->data[table] |= APR_UINT64_C(1) << row;
    g->unannounced[topic] = 1;
    if (game_chance(g, 5)) { /* it dies before its notify, and the parent finds out */
        g->unannounced[topic] = 0;
        vault_notifier_all(g->f.notifier, 0);
    }
    return topic;
}

/* --------------------------------------------------------------------- a check */

/* The interests in a page's states, each once. */
typedef struct names_t {
    vault_interest_t interest[64];
    unsigned count;
} names_t;

static void add_names(names_t *n, const apr_array_header_t *deps)
{
    unsigned k;
    int i;

    for (i = 0; deps && i < deps->nelts; i++) {
        vault_interest_t interest = APR_ARRAY_IDX(deps, i, vault_dep_t).interest;
        for (k = 0; k < n->count && n->interest[k] != interest; k++) {
        }
        if (k == n->count && k < sizeof(n->interest) / sizeof(n->interest[0])) {
            n->interest[n->count++] = interest;
        }
    }
}

static void add_names_of_state(names_t *n, const vault_state_t *s)
{
    int i;

    for (i = 0; i < s->methods->nelts; i++) {
        add_names(n, APR_ARRAY_IDX(s->methods, i, vault_method_t).deps);
    }
    for (i = 0; i < s->cursors->nelts; i++) {
        add_names(n, APR_ARRAY_IDX(s->cursors, i, vault_cursor_t).deps);
    }
}

/* Is the state `to` an ancestor of the answer `seq`? */
static int goes_back(const game_t *g, apr_uint64_t seq, apr_uint64_t to)
{
    while (seq > to) {
        seq = g->from[seq];
    }
    return seq == to;
}

/* Are all ancestors of that state, back to the base, stored? */
static int is_complete(const game_t *g, const vault_page_facts_t *facts, apr_uint64_t seq)
{
    unsigned i;

    for (; seq > facts->base->seq; seq = g->from[seq]) {
        for (i = 0; i < facts->count && facts->staged[i]->seq != seq; i++) {
        }
        if (i == facts->count) {
            return 0;
        }
    }
    return 1;
}

/* There is one page at a time, so all holds must be its own. */
static const char *check_round(game_t *g, apr_uint64_t seq, apr_pool_t *pool)
{
    vault_page_facts_t facts;
    names_t names = {.count = 0};
    unsigned i;

    if (vault_page_facts(g->pages, &g->page, &facts, pool) != APR_SUCCESS || !facts.base) {
        return "the page is not there";
    }
    add_names_of_state(&names, facts.base);
    for (i = 0; i < facts.count; i++) {
        if (!facts.staged[i]) {
            return "what is staged is no state";
        }
        if (!goes_back(g, facts.staged[i]->seq, facts.base->seq)) {
            return "an answer is kept that was not made from what is acknowledged";
        }
        add_names_of_state(&names, facts.staged[i]);
    }
    if (!is_complete(g, &facts, seq)) {
        return "an answer is gone that a later one was made from";
    }
    return vault_interest_count(g->f.notifier) == names.count + 1 ? NULL : "the page holds what no state names";
}

void game_check(game_t *g)
{
    if (!g->unsound) {
        g->unsound = vault_pages_check(g->pages);
    }
}

void game_check_round(game_t *g, apr_uint64_t seq)
{
    apr_pool_t *pool;

    game_check(g);
    if (!g->unsound) {
        apr_pool_create(&pool, g->pool);
        g->unsound = check_round(g, seq, pool);
        apr_pool_destroy(pool);
    }
}
