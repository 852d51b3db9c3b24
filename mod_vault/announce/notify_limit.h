/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file notify_limit.h
 * The rate limit of notifies from outside, by POST or in a header. For each client, VaultNotifyRate notifies a
 * second are sent at once, and the others once a second, gathered by name. None is lost: if a child is killed
 * before it has sent its gathered notifies, every page is checked for changes.
 *
 * Feeds and modules that notify by vault.h are not limited.
 */
#ifndef VAULT_NOTIFY_LIMIT_H
#define VAULT_NOTIFY_LIMIT_H

#include "httpd.h"

/** Notify, now or within a second. Call it only after the change has been committed.
 * @param r  identifies the client: its user or, without one, its address
 * @return as vault_server_notify(); or
 *         APR_EAGAIN  it will be sent within a second
 *         APR_ENOSPC  too many are pending: nothing was done */
apr_status_t vault_notify_limit_send(request_rec *r, const char *interest);

/** Send the pending notifies. Called once a second, and when the child ends. */
void vault_notify_limit_flush(void);

/** Is any notify pending? Takes no lock, so a signal handler may call it. */
int vault_notify_limit_is_pending(void);

#endif
