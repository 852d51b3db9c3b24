/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file render.h
 * Templates for every kind of controller: HTML in place in a view, an update for the browser in a method.
 *
 * One place decides what may be a template (a file beside or below the one that the request's filename names), what it sees, and what
 * is wrapped into a turbo-stream element; the SSI tag `feed` and vault_render() of vault.h both come here.
 */
#ifndef VAULT_RENDER_H
#define VAULT_RENDER_H

#include "httpd.h"

#include "mod_vault/vault.h"

/** Make the cache of templates of this child. */
void vault_render_start(apr_pool_t *pchild);

/** Is this the name of an action that takes HTML: append, prepend, replace, update, before, after? */
int vault_render_is_action(const char *name);

/** Render to the end of `out`, or nothing at all, as vault_render() in vault.h. `out` is as before on a failure.
 * @param pool   for what is needed meanwhile, and for `error`
 * @return as vault_render(); no run is failed by it */
apr_status_t vault_render_to(apr_bucket_brigade *out, request_rec *r, const vault_render_t *what, const char **error,
                             apr_pool_t *pool);

#endif
