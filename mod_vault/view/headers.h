/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file headers.h
 * What an application says in the headers of its answer: Vault-Poll, Vault-Interest, Vault-Notify, Vault-Property, Vault-Update.
 *
 * They are taken out of every answer of the server, and do something only where the handler's location has `VaultLongPoll on`. In a
 * view they make a page, and the page's script element is put into its HTML. In a method they are part of its run. In a request of
 * the page's own (page_request.h) they are written to the page.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_HEADERS_H
#define VAULT_HEADERS_H

#include "httpd.h"

/** Does a handler say that it has compressed its answer? Scripts of CGI and FastCGI have their headers in r->err_headers_out, where
 * httpd puts what is to stay with an error; all others in r->headers_out. Both count, and what mod_mime has found. */
int vault_headers_say_compressed(const request_rec *r);

/** Take a header out of the answer, whoever has said it. */
void vault_headers_unset(request_rec *r, const char *name);

/** Register the hooks and the filter of this file. */
void vault_headers_hooks(void);

#endif
