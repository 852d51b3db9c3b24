/* SPDX-License-Identifier: Apache-2.0 */
/* What all in the game share: the dice, the tables and who writes to them, and how a method reads them. */
#include "page_game.h"

#include <stdlib.h>

#include "apr_strings.h"

const char *const game_table[TABLES] = {"DB-logs", "DB-users"};
const char *const game_method[METHODS] = {"/logs", "/both"};
const int game_reads[METHODS][TABLES] = {{1, 0}, {1, 1}};

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

int game_create(vault_run_t *run, int table)
{
    return vault_run_create_interest(run, game_table[table], game_table[table]);
}

rows_t game_read_rows(game_t *g, vault_run_t *run, int table)
{
    rows_t before = cursor_rows(vault_run_cursor(run, game_table[table]));

    vault_run_set_cursor(run, game_table[table], apr_psprintf(g->pool, "%" APR_UINT64_T_HEX_FMT, g->data[table]));
    return g->data[table] & ~before;
}

/* ------------------------------------------------------------------ the writers */

void game_announce(game_t *g, int table)
{
    g->unannounced[table] = 0;
    vault_notifier_notify(g->f.notifier, game_table[table], 0);
}

void game_write_row(game_t *g, int table)
{
    g->data[table] |= APR_UINT64_C(1) << game_pick(g, ROWS);
    g->unannounced[table] = 1;
    if (game_chance(g, 5)) { /* it dies before its notify; the parent notices */
        g->unannounced[table] = 0;
        vault_notifier_all(g->f.notifier, 0);
    }
}
