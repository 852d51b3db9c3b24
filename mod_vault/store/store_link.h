/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file store_link.h
 * The connections of this child to the page store. Each call has a connection to itself.
 *
 * A request waits at most a second for a call. After a call that failed or was slow this child makes no calls for three
 * seconds, and logs VLT00455: a warning at most once a minute, otherwise at debug.
 *
 * Thread: any that runs handlers or filters of a request.
 */
#ifndef VAULT_STORE_LINK_H
#define VAULT_STORE_LINK_H

#include "mod_vault/store.h"

/** Is this one of the statuses that store.h lists? */
int vault_store_link_is_answer(apr_status_t rv);

/** Run `call` with a connection. If the store has closed this connection since its last use, `call` runs again with a
 * new one.
 * @return what `call` has returned; a status that is no answer (vault_store_link_is_answer()) if there are no
 *         calls now */
apr_status_t vault_store_link_run(apr_status_t (*call)(vault_store_link_t *link, void *data), void *data);

/** Close the connections that no call uses. */
void vault_store_link_close_idle(void);

#endif
