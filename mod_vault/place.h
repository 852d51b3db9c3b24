/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file place.h
 * The places in which requests of a client wait, counted over all children: VaultMaxWaitingPerClient.
 *
 * One client cannot take all that VaultMaxWaiting allows. A request has its place from when it first waits until it will not wait again
 * (vault_suspension_leave()). What a child that dies had is taken away with its slot (client_table.h).
 *
 * Thread: the one that has the request.
 */
#ifndef VAULT_PLACE_H
#define VAULT_PLACE_H

#include "suspend.h"

/** Whose request it is. */
vault_client_id_t vault_place_client(vault_suspension_t *s);

/** May one more request of this client wait? For what has to know before it begins. If not, the log has been told. */
int vault_place_has(vault_suspension_t *s);

/** Take a place, unless the request has one.
 * @return 0 its client has as many as it may: the log has been told */
int vault_place_enter(vault_suspension_t *s);

/** Give it back. */
void vault_place_leave(vault_suspension_t *s);

#endif
