/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file shown.h
 * What a page of a stress run shows, put together from its view and its updates, and whether that can be right.
 *
 * A page shows of each of its things all rows up to a number. So an update must begin with the row after that
 * number: a smaller one came twice, a larger one means that rows were lost. A fault is printed and counted;
 * what the update says is taken all the same.
 */
#ifndef VAULT_BENCH_SHOWN_H
#define VAULT_BENCH_SHOWN_H

#include <stddef.h>
#include <stdint.h>

#include "site.h"

typedef struct shown_t {
    int page;
    long *last; /* by method; -1: not known before the first update */
} shown_t;

typedef struct shown_counts_t {
    long answers, updates, rows;
    long doubled, lost; /* faults */
    long garbled;       /* answers that make no sense; a fault as well */
} shown_counts_t;

extern shown_counts_t shown_counts;

/** A page of its own, with nothing in it. */
void shown_begin(shown_t *shown, const site_t *site, int page);

/** Read the numbers that a freshly loaded page shows. @return 0: it is not such a page */
int shown_view(shown_t *shown, const site_t *site, const char *html);

/** Apply the updates of an answer. @return its seq; 0: garbled */
uint64_t shown_apply(shown_t *shown, const site_t *site, const char *answer);

/** How many of its things are not as `truth` says, by thing. With `print`, says which. */
int shown_differs(const shown_t *shown, const site_t *site, const long *truth, int print);

#endif
