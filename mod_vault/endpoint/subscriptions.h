/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file subscriptions.h
 * Pages whose HTML is a plain file: the browser says which URLs of feeds it wants to hear of, and is given a page for them.
 *
 * Such a page is as one that a view has made: what is answered is state number 0, published before the answer's first byte.
 */
#ifndef VAULT_SUBSCRIPTIONS_H
#define VAULT_SUBSCRIPTIONS_H

#include "httpd.h"

/** The handler `vault-page`. */
int vault_subscriptions_handler(request_rec *r);

#endif
