/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file feed_report.h
 * What feeds report of themselves for the status: vault_feed_t::report.
 *
 * A feed is foreign code. It may be slow, and what it says may be anything. So each feed is asked in a thread of its
 * own, at most one at a time in a child, and its values are checked (feed_figures.h). A request for the status starts the threads that
 * do not run, and waits for all of them until a common deadline. While a report is late, later requests do not wait for
 * it again, and start no second thread.
 */
#ifndef VAULT_FEED_REPORT_H
#define VAULT_FEED_REPORT_H

#include "base/feed_figures.h"
#include "feed/feeds.h"

/** How long a request for the status waits for the reports of feeds, in milliseconds. */
#define VAULT_FEED_REPORT_WAIT 1000

/** What is known of one feed. */
typedef struct vault_feed_report_t {
    const char *name;                   /**< that of VaultFeed, cleaned as texts are */
    const char *kind;                   /**< vault_feed_t::name, cleaned as well */
    const char *error;                  /**< a sentence: why values are missing; NULL: they are as the feed says */
    const vault_feed_figure_t *figures; /**< const: ends with a NULL name */
    const vault_feed_value_t *values;   /**< one for each figure */
} vault_feed_report_t;

/** All feeds of the configuration, by name, as this child sees them. Blocks for VAULT_FEED_REPORT_WAIT at most.
 * @return of vault_feed_report_t, in `pool`
 * Any thread of a child, without a lock. */
apr_array_header_t *vault_feed_reports(apr_pool_t *pool);

/** In a child, when its feeds have been started. Before they are stopped, reports that run are waited for. */
void vault_feed_reports_start(apr_pool_t *pchild);

#endif
