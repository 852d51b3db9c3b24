/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cache_socache.h
 * Kept responses that several servers share (socache.h).
 *
 * Only responses that depend on a time limit alone are shared. Stamps of interests are numbers of one server's
 * notifier, and a file of the same name may have another content on another server. A response that varies by a
 * header is not shared either: the cache has one response for each key.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_CACHE_SOCACHE_H
#define VAULT_CACHE_SOCACHE_H

#include "httpd.h"

#include "output/output_store.h"

/** The response with this key, as another server has kept it. @return 1: the lead has ended; search the output store
 * again */
int vault_cache_socache_fetch(request_rec *r, const char *shared, const vault_output_lead_t *lead);

/** The response was kept: write it to the shared cache, if it can be shared.
 * @param key     of the response in the output store
 * @param shared  of the response in the cache */
void vault_cache_socache_store(request_rec *r, const char *key, const char *shared, const vault_output_ref_t *ref,
                               const char *body);

#endif
