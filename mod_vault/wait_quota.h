/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file wait_quota.h
 * The places in which requests of a client wait, counted over all children: VaultMaxWaitingPerClient.
 *
 * One client cannot take all that VaultMaxWaiting allows. A request has its place from when it first waits until it will not wait again
 * (vault_suspension_leave()). What a child that dies had is taken away with its slot (client_table.h).
 *
 * Thread: the one that has the request.
 */
#ifndef VAULT_WAIT_QUOTA_H
#define VAULT_WAIT_QUOTA_H

#include "suspend.h"

/** Whose request it is. */
vault_client_id_t vault_wait_quota_client(vault_suspension_t *s);

/** May one more request of this client wait? For what has to know before it begins. If not, the log has been told. */
int vault_wait_quota_allows(vault_suspension_t *s);

/** Take a place, unless the request has one.
 * @return 0 its client has as many as it may: the log has been told */
int vault_wait_quota_take(vault_suspension_t *s);

/** Give it back. */
void vault_wait_quota_release(vault_suspension_t *s);

#endif
