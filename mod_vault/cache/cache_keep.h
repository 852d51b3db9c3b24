/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cache_keep.h
 * The output filter VAULT_KEEP: collects the response of a request that leads, and ends its recording.
 *
 * It runs after the script element is in the HTML, and before the view's page is published. The entry lists
 * where the id of the page stands in the body.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_CACHE_KEEP_H
#define VAULT_CACHE_KEEP_H

#include "httpd.h"

#include "cache/cache_stale.h"

/** Collect the response of the main request `r`, whose context has a recording for this key.
 * @param shared  the key in the cache that servers share; NULL: there is none
 * @param stale  for an outdated response in the place of an error; NULL: the error is sent */
void vault_cache_keep_insert(request_rec *r, const char *key, const char *shared, const vault_cache_stale_t *stale);

/** The handler of `r` has returned an error: end the recording. @return 1; 0: a part of the response has been sent */
int vault_cache_keep_fail(request_rec *r);

/** The handler of `r` has not answered: httpd sends an error, or redirects internally. End the recording without an
 * entry. */
void vault_cache_keep_abandon(request_rec *r);

/** The filter after which a kept response is written: the first one that is not before VAULT_KEEP. */
struct ap_filter_t *vault_cache_keep_next(request_rec *r);

void vault_cache_keep_hooks(void);

#endif
