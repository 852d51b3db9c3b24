/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file headers.h
 * The response headers by which an application controls pages: Vault-Poll, Vault-Interest, Vault-Notify,
 * Vault-Property, Vault-Update, Vault-Shared.
 *
 * The module removes them from every response of the server, and applies them only where `VaultLongPoll on`
 * holds for the handler's location. In a view they create a page, and the page's script element is inserted
 * into its HTML. In a method they take part in its transaction. In a request that a live page sends
 * (page_request.h) they write to that page.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_HEADERS_H
#define VAULT_HEADERS_H

#include "httpd.h"

/** Has the handler declared that its response is compressed? CGI and FastCGI scripts set their headers in
 * r->err_headers_out, which httpd keeps for errors, and other handlers in r->headers_out. Both count, and so
 * does the encoding that mod_mime has found. */
int vault_headers_say_compressed(const request_rec *r);

/** Has the response a header of those that control pages? */
int vault_headers_any(const request_rec *r);

/** Remove a header from the response, from headers_out and from err_headers_out. */
void vault_headers_unset(request_rec *r, const char *name);

/** Register the hooks and the filter of this file. */
void vault_headers_hooks(void);

#endif
