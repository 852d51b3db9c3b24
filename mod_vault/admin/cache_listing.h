/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cache_listing.h
 * What the output store keeps, as a list, and dropping outputs on request.
 *
 * URLs with their queries are private data, so these are forms of the status page, under its access control. What an
 * output varies by, such as a cookie in VaultCacheKey, is not shown.
 */
#ifndef VAULT_CACHE_LISTING_H
#define VAULT_CACHE_LISTING_H

#include "httpd.h"

/** `?cache`: answers a GET with a list of outputs, and drops outputs on a POST, which a page of another site cannot
 * send.
 * @return what the handler returns */
int vault_cache_listing(request_rec *r);

/** A table of the outputs that are used most. */
void vault_cache_listing_html(request_rec *r);

#endif
