/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file readers.h
 * The pages of a stress run: each polls as a browser does, by the rules of docs/protocol.md, and meets what browsers meet.
 *
 * A page has two connections. One carries the poll that counts; the other is there for polls that overtake it, acknowledgements, and
 * what strangers ask. A page that is told 410 is loaded again, as a browser would, and has a fresh view.
 */
#ifndef VAULT_BENCH_READERS_H
#define VAULT_BENCH_READERS_H

#include <stdint.h>

#include "plan.h"
#include "site.h"

typedef struct readers_counts_t {
    long loads;      /* pages asked for */
    long orphans;    /* pages whose HTML was lost on its way: the server forgets them after a minute */
    long left;       /* pages that were closed */
    long polls;      /* sent */
    long no_news;    /* 204 */
    long superseded; /* polls that were told so: a newer one came */
    long gone;       /* 410: loaded again */
    long refused;    /* 503 */
    long closed;     /* connections that the server closed without an answer */
    long lost;       /* answers thrown away */
    long strange;    /* answers that nothing explains: a fault */
} readers_counts_t;

extern readers_counts_t readers_counts;

/** Load all pages, some at a time, and let them poll. */
void readers_start(const site_t *site, uint64_t seed);

/** Do what a plan says of pages. */
void readers_act(const plan_act_t *act);

/** What is due by now. Call it often. */
void readers_tick(void);

/** The id of a page, or NULL while it has none. */
const char *readers_page_id(unsigned which);

/** How many pages do not poll, or do not show what `truth` says. With `print`, says which. */
int readers_behind(const long *truth, int print);

/** Close all connections: the pages are gone for good. */
void readers_leave(void);

#endif
