/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file feed_status.h
 * The reports of feeds (feed_report.h) in each format of the status page.
 *
 * Each function takes the result of vault_feed_reports(). The thread that owns `r`.
 */
#ifndef VAULT_FEED_STATUS_H
#define VAULT_FEED_STATUS_H

#include <jansson.h>

#include "httpd.h"

/** A list of objects: Name, Kind, Error (or null), and each figure (or null). */
json_t *vault_feed_status_json(const apr_array_header_t *reports);

/** Lines `Feed1Name: database`, `Feed1RingReads: 12`. A figure without a value has no line. */
void vault_feed_status_auto(request_rec *r, const apr_array_header_t *reports);

/** A heading and a table for each feed. */
void vault_feed_status_html(request_rec *r, const apr_array_header_t *reports);

/** Families of metrics, with the name of the feed as a label. */
void vault_feed_status_metrics(request_rec *r, const apr_array_header_t *reports);

#endif
