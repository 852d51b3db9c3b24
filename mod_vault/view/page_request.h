/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page_request.h
 * Requests that a live page makes itself, a form's or a fetch(): the browser says `X-Vault-Page: ID`, and what the handler does
 * reaches that page. And what applications are told of a page: request headers that no browser can forge.
 *
 * Such a request makes no page of its own. Thread: the one that owns the request.
 */
#ifndef VAULT_PAGE_REQUEST_H
#define VAULT_PAGE_REQUEST_H

#include "httpd.h"

#include "page/page.h"

/** The page that `r`'s main request comes from, if it says so, its location has `VaultLongPoll on`, and the page is there and its
 * user's; NULL otherwise. */
const vault_page_t *vault_page_request_page(request_rec *r);

/** Write to it: as vault_page_write(); APR_NOTFOUND also when there is none. */
apr_status_t vault_page_request_write(request_rec *r, const vault_write_t *write);

/** Set (value NULL: remove) one of its properties. */
apr_status_t vault_page_request_set(request_rec *r, const char *key, const char *value);

/** A property of it, committed or not, in r->pool; NULL: not set, or no page. */
const char *vault_page_request_get(request_rec *r, const char *key);

/** Tell the handler of a page: `Vault-Page`, and `Vault-Property-KEY` for each property.
 * @param headers     of the request; not shared with one that must not be told
 * @param properties  of vault_property_t */
void vault_page_request_tell(apr_table_t *headers, const vault_page_t *page, const apr_array_header_t *properties,
                             apr_pool_t *pool);

/** Register the hooks of this file. */
void vault_page_request_hooks(void);

#endif
