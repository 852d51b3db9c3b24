/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file origin.h
 * Did a page of another site make the browser send this, and may it? VaultLongPollOrigin says who may use our own URLs, VaultSameOrigin
 * keeps such requests from other handlers.
 */
#ifndef VAULT_ORIGIN_H
#define VAULT_ORIGIN_H

#include "httpd.h"

/** The first thing that the poll, page, feed and notify handlers do: let requests of this site's pages and of those origins in that
 * VaultLongPollOrigin names here, answer the browser's question before such a request (OPTIONS), and refuse other origins'. Whatever the
 * handler answers later, errors too, has the headers by which the browser lets that page read it.
 * @param methods   what the handler takes, as in "GET, POST"
 * @param harmless  the request changes nothing: without an Origin, say a link on another site, it is let in
 * @return DECLINED  go on
 *         else what the handler returns: it has been answered
 * A subrequest goes on: its main request has been asked. */
int vault_origin_admit(request_rec *r, const char *methods, int harmless);

/** Did a page of this origin, the visitor, or a program that is no browser send this? The one answer to that in the module: for
 * vault_origin_admit(), for VaultSameOrigin, and for vault_same_origin() of vault.h.
 * @return 1 yes; 0: a page of another origin, or of none */
int vault_origin_is_same(const request_rec *r);

/** One origin, as browsers send it: scheme://host, with :port unless it is the scheme's own; or "*".
 * @return NULL  it is none */
const char *vault_origin_parse(const char *text, apr_pool_t *pool);

void vault_origin_hooks(void);

/** The page of this site from which the browser sent this, by Referer.
 * @return path and query, to be sent back to; NULL: not said, or another site's. Points into the header */
const char *vault_origin_page(const request_rec *r);

#endif
