/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file origin.h
 * Protects against requests that a page of another site makes the browser send. VaultLongPollOrigin lists the
 * origins that may use the module's own URLs. VaultSameOrigin keeps requests of other origins from other
 * handlers.
 */
#ifndef VAULT_ORIGIN_H
#define VAULT_ORIGIN_H

#include "httpd.h"

/** The first step of the poll, page, feed and notify handlers: admit requests of this site's pages and of the
 * origins in VaultLongPollOrigin, answer preflight requests (OPTIONS), and refuse all other origins. It sets
 * the CORS headers for whatever the handler answers later, errors included.
 * @param methods   the methods of the handler, as in "GET, POST"
 * @param harmless  the request changes nothing, so it is also admitted without an Origin header, for instance
 *                  from a link on another site
 * @return DECLINED: continue; otherwise the request has been answered, and this is the return value for the
 *         handler
 * A subrequest is always admitted, since its main request has been checked. */
int vault_origin_admit(request_rec *r, const char *methods, int harmless);

/** Was this request sent by a page of this origin, by the visitor directly, or by a program that is not a
 * browser? vault_origin_admit(), VaultSameOrigin and vault_same_origin() of vault.h all use this function.
 * @return 1: yes; 0: by a page of another origin, or of an opaque one */
int vault_origin_is_same(const request_rec *r);

/** One origin in the form that browsers send: scheme://host, with :port unless it is the scheme's default; or
 * "*".
 * @return NULL: the text is not an origin */
const char *vault_origin_parse(const char *text, apr_pool_t *pool);

void vault_origin_hooks(void);

/** The page of this site that has sent the request, by its Referer header.
 * @return its path and query, for a redirect back to it; NULL: unknown, or a page of another site. Points into
 *         the header */
const char *vault_origin_page(const request_rec *r);

#endif
