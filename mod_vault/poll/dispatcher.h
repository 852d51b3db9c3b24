/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file dispatcher.h
 * The poll: runs the page's methods, answers if any wrote something, else waits until notified.
 */
#ifndef VAULT_DISPATCHER_H
#define VAULT_DISPATCHER_H

#include "httpd.h"

/** The handler `vault-poll`. Exact steps: protocol.md in docs/. */
int vault_dispatcher_handler(request_rec *r);

#endif
