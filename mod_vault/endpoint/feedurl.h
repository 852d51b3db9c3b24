/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file feedurl.h
 * The URLs of exposed feed methods: VaultPath/feed/NAME/METHOD?argument=value. Each answers rows as JSON, and can be a page's
 * long-poll method.
 */
#ifndef VAULT_FEEDURL_H
#define VAULT_FEEDURL_H

#include "httpd.h"

/** The handler `vault-feed`. */
int vault_feedurl_handler(request_rec *r);

/** Has `url` the form of such a URL? Whether the method is exposed its handler says.
 * @param base  VaultPath */
int vault_feedurl_is(const char *url, const char *base);

/** Can a feed or method of this name be part of a URL as it is? */
int vault_feedurl_is_name(const char *name);

#endif
