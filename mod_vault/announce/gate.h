/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file gate.h
 * Notifies that come from outside, by POST or in a header: at most VaultNotifyRate a second from one client are told at once, the others
 * together, once a second. None is lost: what a killed child has not told yet is covered by everybody's looking again.
 *
 * Not for feeds, nor for what modules notify by themselves.
 */
#ifndef VAULT_GATE_H
#define VAULT_GATE_H

#include "httpd.h"

/** Notify, now or within a second. Only after the commit of what it announces.
 * @param r  who asks: its user or, without one, its address
 * @return as vault_notifier_notify(); or
 *         APR_EAGAIN  it is told within a second
 *         APR_ENOSPC  too many wait for that: nothing was done */
apr_status_t vault_gate_notify(request_rec *r, const char *interest);

/** Tell what waits: once a second, and when the child ends. */
void vault_gate_flush(void);

/** Is there something to be told? Takes no lock: also for a signal handler. */
int vault_gate_waits(void);

#endif
