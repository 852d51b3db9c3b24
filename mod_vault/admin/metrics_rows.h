/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file metrics_rows.h
 * The metrics of the server, one row each: the tables of the segment, and the counters of counters.h. Every
 * format of the status page is made from these rows, so a new counter appears in all of them.
 *
 * Any thread, once the segment exists. Each value is read by itself, so the values are not a snapshot.
 */
#ifndef VAULT_METRICS_ROWS_H
#define VAULT_METRICS_ROWS_H

#include "apr.h"

typedef struct vault_metrics_row_t {
    const char *name;    /* as on the page of mod_status: "PagesMax" */
    const char *meaning; /* half a sentence */
    int grows;           /* 1: a counter; 0: a gauge */
    apr_uint64_t (*now)(void);
    apr_size_t offset; /* in vault_counters_t, if `now` is NULL */
} vault_metrics_row_t;

/** All rows, those of the tables first. @param count  receives their number */
const vault_metrics_row_t *vault_metrics_rows(unsigned *count);

/** Does each child have its own value? The tables have one for all. */
int vault_metrics_row_is_by_child(const vault_metrics_row_t *f);

/** The sum over all children, including those that have ended. */
apr_uint64_t vault_metrics_row_total(const vault_metrics_row_t *f);

/** The value of the child in this slot, for a row that has one for each child. */
apr_uint64_t vault_metrics_row_of_child(const vault_metrics_row_t *f, unsigned slot);

/** The next slot after `slot` that belongs to a child; start with 0. 0: there are no more. */
unsigned vault_metrics_rows_next_child(unsigned slot);

#endif
