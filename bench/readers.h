/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file readers.h
 * The pages of a stress run: each polls as a browser does, by the rules of docs/protocol.md, under the
 * conditions of real browsers.
 *
 * A page has two connections. One has the poll whose answers count; the other is for polls that supersede it,
 * acknowledgements, and requests of strangers. A page that gets 410 is loaded again, as a browser would, and
 * has a new view.
 */
#ifndef VAULT_BENCH_READERS_H
#define VAULT_BENCH_READERS_H

#include <stdint.h>

#include "plan.h"
#include "site.h"

typedef struct readers_counts_t {
    long loads;      /* requests for pages */
    long orphans;    /* pages whose HTML was lost on its way: the server removes them after a minute */
    long left;       /* pages that were closed */
    long polls;      /* sent */
    long no_news;    /* 204 */
    long superseded; /* polls that were superseded by a newer one */
    long gone;       /* 410: loaded again */
    long refused;    /* 503 */
    long closed;     /* connections closed by the server without an answer */
    long lost;       /* answers discarded on purpose */
    long strange;    /* unexplained answers: a fault */
} readers_counts_t;

extern readers_counts_t readers_counts;

/** Load all pages, some at a time, and let them poll. */
void readers_start(const site_t *site, uint64_t seed);

/** Execute an act of the plan that is about pages. */
void readers_act(const plan_act_t *act);

/** Do what is due by now. Call it often. */
void readers_tick(void);

/** The id of a page; NULL while it has none. */
const char *readers_page_id(unsigned which);

/** The number of pages that do not poll, or do not show `truth`. With `print`, lists them. */
int readers_behind(const long *truth, int print);

/** Close all connections; the pages do not return. */
void readers_leave(void);

#endif
