/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page_request.h
 * Requests that a live page sends itself, by a form or by fetch(). The browser sends `X-Vault-Page: ID`, and
 * what the handler writes reaches that page. This file also sends applications the headers that describe a
 * page, which no browser can forge.
 *
 * Such a request does not create a page. Thread: the one that owns the request.
 */
#ifndef VAULT_PAGE_REQUEST_H
#define VAULT_PAGE_REQUEST_H

#include "httpd.h"

#include "page/page.h"

/** The page that has sent the main request of `r`. NULL: the request names none, `VaultLongPoll` is off for its
 * location, or the page does not exist or belongs to another user. */
const vault_page_t *vault_page_request_page(request_rec *r);

/** Write to that page, as vault_page_write(). @return also APR_NOTFOUND if there is no such page */
apr_status_t vault_page_request_write(request_rec *r, const vault_write_t *write);

/** Set one property of that page. NULL removes it. */
apr_status_t vault_page_request_set(request_rec *r, const char *key, const char *value);

/** A property of that page, committed or not, in r->pool; NULL: not set, or no page. */
const char *vault_page_request_get(request_rec *r, const char *key);

/** Set the headers that describe a page to its handler: `Vault-Page`, and `Vault-Property-KEY` for each
 * property.
 * @param headers     of the request; not shared with a request that must not have them
 * @param properties  of vault_property_t */
void vault_page_request_tell(apr_table_t *headers, const vault_page_t *page, const apr_array_header_t *properties,
                             apr_pool_t *pool);

/** Register the hooks of this file. */
void vault_page_request_hooks(void);

#endif
