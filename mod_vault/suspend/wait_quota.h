/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file wait_quota.h
 * A limit on how many requests of one client wait, over all children: VaultMaxWaitingPerClient.
 *
 * Without this limit one client could use up VaultMaxWaiting. A request counts from its first wait until it will not
 * wait again (vault_suspension_leave()). When a child dies, its slot is cleaned up, and with it the count of its
 * requests (client_table.h).
 *
 * Only the thread that owns the request may call these functions.
 */
#ifndef VAULT_WAIT_QUOTA_H
#define VAULT_WAIT_QUOTA_H

#include "suspend/suspend.h"

/** The client that sent the request. */
vault_client_id_t vault_wait_quota_client(vault_suspension_t *s);

/** May one more request of this client wait? The answer may be outdated when the request does wait. Logs a 0. */
int vault_wait_quota_allows(vault_suspension_t *s);

/** Count the request as waiting, unless it counts already.
 * @return 1; 0 its client is at the limit: nothing is counted, and the function has logged that */
int vault_wait_quota_take(vault_suspension_t *s);

/** The request will not wait again. Does nothing if it does not count. */
void vault_wait_quota_release(vault_suspension_t *s);

#endif
