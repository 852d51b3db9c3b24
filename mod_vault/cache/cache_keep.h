/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cache_keep.h
 * The output filter VAULT_KEEP: collects the response of a request that leads, and ends its recording.
 *
 * It runs after the script element is in the HTML, and before the view's page is published. What is kept has holes
 * where the id of the page stands.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_CACHE_KEEP_H
#define VAULT_CACHE_KEEP_H

#include "httpd.h"

/** Collect the response of the main request `r`, whose context has a recording for this key.
 * @param shared  the key in the cache that servers share; NULL: there is none */
void vault_cache_keep_insert(request_rec *r, const char *key, const char *shared);

/** The filter after which a kept response is written: the first one that is not before VAULT_KEEP. */
struct ap_filter_t *vault_cache_keep_next(request_rec *r);

void vault_cache_keep_hooks(void);

#endif
