/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file headers.h
 * What an application says in the headers of its answer: Vault-Poll, Vault-Interest, Vault-Notify, Vault-Property, Vault-Update.
 *
 * They are taken out of every answer of the server, and do something only where the handler's location has `VaultLongPoll on`. In a
 * view they make a page, and the page's script element is put into its HTML. In a method they are part of its run. In a request of
 * the page's own (own_page.h) they are written to the page.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_HEADERS_H
#define VAULT_HEADERS_H

/** Register the hooks and the filter of this file. */
void vault_headers_hooks(void);

#endif
