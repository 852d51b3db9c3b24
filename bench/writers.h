/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file writers.h
 * The writers of a stress run: a few connections, each with a queue of requests. What a writer's child does not answer,
 * since it was killed, has happened or not: the truth is asked for at the end.
 */
#ifndef VAULT_BENCH_WRITERS_H
#define VAULT_BENCH_WRITERS_H

#include "plan.h"
#include "site.h"

typedef struct writers_counts_t {
    long done;
    long lost;    /* the connection ended before an answer */
    long busy;    /* 503: the database was locked for too long; nothing was written */
    long strange; /* answers that nothing explains: a fault */
} writers_counts_t;

extern writers_counts_t writers_counts;

void writers_start(const site_t *site);

/** Queue what a plan says. */
void writers_act(const plan_act_t *act);

/** Queue one more row of this thing. */
void writers_add(int thing);

/** End failures whose time is over. Call it often. */
void writers_tick(void);

/** Requests that are queued or under way. */
int writers_pending(void);

#endif
