/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file subscriptions.h
 * Pages whose HTML is a plain file: the browser sends the feed URLs that it wants to subscribe to, and gets a
 * page for them.
 *
 * Such a page is like one of a view: the answer is its state number 0, published before the first byte of the
 * answer is sent.
 */
#ifndef VAULT_SUBSCRIPTIONS_H
#define VAULT_SUBSCRIPTIONS_H

#include "httpd.h"

/** The handler `vault-page`. */
int vault_subscriptions_handler(request_rec *r);

#endif
