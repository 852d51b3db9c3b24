/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file metrics_rows.h
 * What the server can say of itself in numbers, one row each: the tables of the segment, and the counters of counters.h. Every form
 * of the status comes from these rows, so a new counter shows up in all of them by itself.
 *
 * Any thread, once the segment is there; figures of one moment, each read for itself.
 */
#ifndef VAULT_METRICS_ROWS_H
#define VAULT_METRICS_ROWS_H

#include "apr.h"

typedef struct vault_metrics_row_t {
    const char *name;    /* as in mod_status: "PagesMax" */
    const char *meaning; /* half a sentence */
    int grows;           /* a counter; else a gauge */
    apr_uint64_t (*now)(void);
    apr_size_t offset; /* in vault_counters_t, when `now` is NULL */
} vault_metrics_row_t;

/** All rows, the tables first. @param count  how many */
const vault_metrics_row_t *vault_metrics_rows(unsigned *count);

/** Is it counted by child? The tables are not. */
int vault_metrics_row_is_by_child(const vault_metrics_row_t *f);

/** In all, children that are gone included. */
apr_uint64_t vault_metrics_row_total(const vault_metrics_row_t *f);

/** Of the child in that slot; of a figure that is counted by child. */
apr_uint64_t vault_metrics_row_of_child(const vault_metrics_row_t *f, unsigned slot);

/** The next slot after `slot` (0: the first) that a child has; 0: there is none. */
unsigned vault_metrics_rows_next_child(unsigned slot);

#endif
