/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file feed_report.h
 * The reports of feeds for the status page: vault_feed_t::report.
 *
 * A feed is foreign code: it may be slow, and its report may contain anything. So each feed is asked in a
 * thread of its own, at most one at a time in a child, and its values are checked (feed_figures.h). A request
 * for the status starts the threads that are not running, and waits for all of them until a common deadline.
 * While a report is late, further requests do not wait for it again, and do not start a second thread.
 */
#ifndef VAULT_FEED_REPORT_H
#define VAULT_FEED_REPORT_H

#include "base/feed_figures.h"
#include "feed/feeds.h"

/** How long a request for the status waits for reports, in milliseconds. */
#define VAULT_FEED_REPORT_WAIT 1000

/** The report of one feed. */
typedef struct vault_feed_report_t {
    const char *name;                   /**< the name in VaultFeed, safe to show */
    const char *kind;                   /**< vault_feed_t::name, safe to show */
    const char *error;                  /**< a sentence why values are missing; NULL: none is */
    const vault_feed_figure_t *figures; /**< const: ends with a NULL name */
    const vault_feed_value_t *values;   /**< one for each figure */
} vault_feed_report_t;

/** The reports of all configured feeds, by name, as this child sees them. Blocks for at most
 * VAULT_FEED_REPORT_WAIT.
 * @return of vault_feed_report_t, in `pool`
 * Any thread of a child; hold no lock. */
apr_array_header_t *vault_feed_reports(apr_pool_t *pool);

/** Call this in a child after its feeds have been started. When the child ends, running reports are awaited
 * before the feeds are stopped. */
void vault_feed_reports_start(apr_pool_t *pchild);

#endif
