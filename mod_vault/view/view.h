/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file view.h
 * The rendering of a page: creates its record, keeps its HTML out of caches, and publishes its first state.
 *
 * State number 0 means "what this HTML shows". It is published when the HTML is complete, before its end is
 * sent; a poll that arrives earlier waits. No page remains of a view that fails, is aborted, is a HEAD request,
 * or asks for no long poll. The same holds if the environment variable no-vault-page says that the client never
 * polls, as crawlers do: such a client gets the HTML without the script, which no cache may store either.
 */
#ifndef VAULT_VIEW_H
#define VAULT_VIEW_H

#include "httpd.h"

/** Can the answer to `r` become a page? Only the browser's own request has a view; its includes and error
 * documents become part of it. Valid once the handler is known. */
int vault_view_is_possible(request_rec *r);

/** Add a long poll to the page of `r`. Returns as vault_add_long_poll() in vault.h. */
apr_status_t vault_view_add_long_poll(request_rec *r, const char *url);

/** The script element for the page of `r`, in r->pool; NULL: no page. */
const char *vault_view_script(request_rec *r);

/** Register the hooks and the filter of this file. */
void vault_view_hooks(apr_pool_t *p);

#endif
