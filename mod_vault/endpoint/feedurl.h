/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file feedurl.h
 * The URLs of exposed feed methods: VaultPath/feed/NAME/METHOD?argument=value. They answer rows as JSON, and
 * can be long-poll methods of a page.
 */
#ifndef VAULT_FEEDURL_H
#define VAULT_FEEDURL_H

#include "httpd.h"

/** The handler `vault-feed`. */
int vault_feedurl_handler(request_rec *r);

/** Does `url` have the form of such a URL? Whether the method is exposed is not checked.
 * @param base  VaultPath */
int vault_feedurl_is(const char *url, const char *base);

/** Can the name of a feed or method be part of a URL without escapes? */
int vault_feedurl_is_name(const char *name);

#endif
