/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file figures.h
 * What the server can say of itself in numbers, one row each: the tables of the segment, and the counters of counters.h. Every form
 * of the status comes from these rows, so a new counter shows up in all of them by itself.
 *
 * Any thread, once the segment is there; figures of one moment, each read for itself.
 */
#ifndef VAULT_FIGURES_H
#define VAULT_FIGURES_H

#include "apr.h"

typedef struct vault_figure_t {
    const char *name;    /* as in mod_status: "PagesMax" */
    const char *meaning; /* half a sentence */
    int grows;           /* a counter; else a gauge */
    apr_uint64_t (*now)(void);
    apr_size_t offset; /* in vault_counters_t, when `now` is NULL */
} vault_figure_t;

/** All rows, the tables first. @param count  how many */
const vault_figure_t *vault_figures(unsigned *count);

/** Is it counted by child? The tables are not. */
int vault_figure_by_child(const vault_figure_t *f);

/** In all, children that are gone included. */
apr_uint64_t vault_figure_total(const vault_figure_t *f);

/** Of the child in that slot; of a figure that is counted by child. */
apr_uint64_t vault_figure_of(const vault_figure_t *f, unsigned slot);

/** The next slot after `slot` (0: the first) that a child has; 0: there is none. */
unsigned vault_figures_child(unsigned slot);

#endif
