/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file view.h
 * The rendering of a page: its record is made, its HTML kept out of caches, its first state published.
 *
 * State number 0 is "what is in this HTML". It is published when the HTML is complete and before its end is sent; a poll that is
 * quicker waits. A view that fails, is aborted or is only a HEAD leaves no page, nor does one that asked for no long poll.
 * Nor does one whose client never polls, as the variable no-vault-page of the environment says of crawlers: its HTML is
 * that of any view, without the script, and no cache may keep it either.
 */
#ifndef VAULT_VIEW_H
#define VAULT_VIEW_H

#include "httpd.h"

/** Can the answer to `r` become a page? Only a request that the browser made has a view: its includes and its error documents write into
 * that. Once the handler is known. */
int vault_view_is_possible(request_rec *r);

/** Add a long poll to the page of `r`. Returns as vault_add_long_poll() in vault.h. */
apr_status_t vault_view_add_long_poll(request_rec *r, const char *url);

/** The script element for the page of `r`, in r->pool; NULL: no page. */
const char *vault_view_script(request_rec *r);

/** Register the hooks and the filter of this file. */
void vault_view_hooks(apr_pool_t *p);

#endif
