/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file store.h
 * VaultPageStore: pages that any of several servers can continue.
 *
 * A page belongs to one server at a time. That server has it in its shared memory, and writes a snapshot of it
 * (page_snapshot.h) to the store before it sends anything that a browser could acknowledge. A server that gets a
 * request of a page asks the store whether it still owns the page. If it does not, it takes the page over: it changes
 * the fence in the store, and restores the page from the snapshot. From then on the store refuses what the former
 * owner writes.
 *
 * If the store does not answer, each server continues the pages that it has. If the store has lost a page, its owner
 * continues it and writes it again; for the other servers it does not exist.
 *
 * What the store returns is not trusted, see page_packet.h.
 *
 * These calls block, at most for some seconds. Thread: any that runs handlers or filters of a request. If
 * VaultPageStore is not configured, they do nothing and succeed.
 */
#ifndef VAULT_STORE_SKIN_H
#define VAULT_STORE_SKIN_H

#include "httpd.h"
#include "http_config.h"

#include "page/page.h"

/** Make sure that this server has the current page, before it is used: take it over if another server owns it.
 * @param page  looked up (vault_page_locate()); gets its index
 * @param take  of the poll or acknowledgement; NULL: another request
 * @param waits  how long the request may wait: for so long, and the idle time of a page, the store keeps the page
 * @return APR_SUCCESS    this server has it, and may use it as if there were no store
 *         APR_NOTFOUND   no server has such a page on this host
 *         APR_EACCES, APR_EMISMATCH  as vault_page_take(); the page was not taken over
 *         APR_ENOSPC     as vault_page_create()
 *         APR_TIMEUP     this server does not have it, and the store does not answer */
apr_status_t vault_store_find(request_rec *r, vault_page_t *page, const vault_owner_t *owner, const vault_take_t *take,
                              apr_interval_time_t waits);

/** Write the page to the store, if it has changed. Call it after the change, and before an answer is sent that
 * depends on the change.
 * @return APR_SUCCESS       written; or the store does not answer, and the server goes on alone
 *         APR_ECONNABORTED  another server owns the page: what was made here is void */
apr_status_t vault_store_save(request_rec *r, const vault_page_t *page);

/** Write the page to the store if the store may not have its last snapshot, because it did not answer then or has
 * lost it.
 * @return as vault_store_save() */
apr_status_t vault_store_save_again(request_rec *r, const vault_page_t *page);

void vault_store_hooks(void);

#endif
