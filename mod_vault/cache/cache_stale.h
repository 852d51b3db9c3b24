/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cache_stale.h
 * VaultCacheStale: outdated responses in place of waiting, and in place of errors.
 *
 * As `stale-while-revalidate` and `stale-if-error` of RFC 5861, for all responses of a location. A live page gets the
 * stamps of the outdated response, so its first poll brings what has changed since. An outdated response is not used
 * if a file has changed, because it is not known since when.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_CACHE_STALE_H
#define VAULT_CACHE_STALE_H

#include "httpd.h"

/** Answer by an outdated response with this key, since another request renders it.
 * @param status  what the handler returns
 * @return 1 answered; 0 there is none, VaultCacheStale does not allow it, or the client accepts none */
int vault_cache_stale_answer(request_rec *r, const char *key, int *status);

/** What is needed to send an outdated response in place of an error. */
typedef struct vault_cache_stale_t {
    const char *key;
    const apr_table_t *headers, *err_headers; /* of the response, before its handler ran */
} vault_cache_stale_t;

/** The handler is about to run. @return NULL: VaultCacheStale does not allow outdated responses, or the client accepts
 * none */
const vault_cache_stale_t *vault_cache_stale_prepare(request_rec *r, const char *key);

/** The handler has failed, and nothing of its response has been sent: answer by an outdated one.
 * @return 1 answered; 0 there is none, and the response is as it was */
int vault_cache_stale_replace(request_rec *r, const vault_cache_stale_t *stale, int *status);

#endif
