/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bids_rows.h
 * The bids of an item as a handwritten page selects them: one statement, by the SQL layer of the database feed.
 */
#ifndef VAULT_BENCH_BIDS_ROWS_H
#define VAULT_BENCH_BIDS_ROWS_H

#include "httpd.h"

#include <jansson.h>

/** Check the words of BidsDatabase, `key=value` as in VaultFeed. In the parent. @return NULL, or a sentence */
const char *bids_rows_open(const char *words, apr_pool_t *pconf);

/** Start in a child. @return NULL, or a sentence */
const char *bids_rows_start(apr_pool_t *pchild);

/** The bids of `item` with a larger id than `after`: {"added": [{"id", "bidder", "amount"}, …]}, as
 * get_collection_changes answers.
 * @param answer  a new reference; NULL: there is none
 * @param last    the largest id among them, or `after`
 * @return as sql_fetch; the sentence is in the error log */
apr_status_t bids_rows_newer(request_rec *r, apr_int64_t item, apr_int64_t after, json_t **answer, apr_int64_t *last);

#endif
