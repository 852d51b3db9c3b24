/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file render.h
 * Renders templates for all kinds of controllers: HTML in place in a view, an update for the browser in a
 * method.
 *
 * It decides which files can be templates (those beside or below the file that the request's filename names),
 * which data they see, and what is wrapped into a turbo-stream element. The SSI tag `feed` and vault_render()
 * of vault.h both use it.
 */
#ifndef VAULT_RENDER_H
#define VAULT_RENDER_H

#include "httpd.h"

#include "mod_vault/vault.h"

/** Create the cache of templates of this child. */
void vault_render_start(apr_pool_t *pchild);

/** Is this one of the actions that take HTML: append, prepend, replace, update, before, after? */
int vault_render_is_action(const char *name);

/** Render at the end of `out`. On a failure `out` is unchanged.
 * @param pool   scratch memory, and for `error`
 * @return as vault_render() in vault.h; the page's transaction is not made to fail */
apr_status_t vault_render_to(apr_bucket_brigade *out, request_rec *r, const vault_render_t *what, const char **error,
                             apr_pool_t *pool);

#endif
