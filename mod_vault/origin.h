/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file origin.h
 * Did a page of another site make the browser send this?
 */
#ifndef VAULT_ORIGIN_H
#define VAULT_ORIGIN_H

#include "httpd.h"

/** For requests that change something. What no browser has sent is not foreign: it carries nobody's cookies but its own.
 * @return 1  Sec-Fetch-Site says so or, from a browser that does not send it, Origin names another host or port */
int vault_origin_is_foreign(const request_rec *r);

/** The page of this site from which the browser sent this, by Referer.
 * @return path and query, to be sent back to; NULL: not said, or another site's. Points into the header */
const char *vault_origin_page(const request_rec *r);

#endif
