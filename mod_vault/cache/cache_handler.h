/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cache_handler.h
 * Responses that are rendered once: everything where VaultCache is On, and views of live pages where it is not set.
 *
 * A handler hook answers from the output store, or lets the request lead: its response is recorded and kept. Other
 * requests for the same response wait for it without a thread. For a file the hook runs right before httpd's handler of
 * files, otherwise before all handlers.
 */
#ifndef VAULT_CACHE_HANDLER_H
#define VAULT_CACHE_HANDLER_H

/** Register the hooks. */
void vault_cache_hooks(void);

#endif
