/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file notify_limit.h
 * Notifies that come from outside, by POST or in a header: at most VaultNotifyRate a second from one client are told at once, the others
 * together, once a second. None is lost: what a killed child has not told yet is covered by everybody's looking again.
 *
 * Not for feeds, nor for what modules notify by themselves.
 */
#ifndef VAULT_NOTIFY_LIMIT_H
#define VAULT_NOTIFY_LIMIT_H

#include "httpd.h"

/** Notify, now or within a second. Only after the commit of what it announces.
 * @param r  who asks: its user or, without one, its address
 * @return as vault_notifier_notify(); or
 *         APR_EAGAIN  it is told within a second
 *         APR_ENOSPC  too many wait for that: nothing was done */
apr_status_t vault_notify_limit_send(request_rec *r, const char *interest);

/** Tell what waits: once a second, and when the child ends. */
void vault_notify_limit_flush(void);

/** Is there something to be told? Takes no lock: also for a signal handler. */
int vault_notify_limit_is_pending(void);

#endif
