/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cache_serve.h
 * Answers a request with a kept response.
 *
 * A live page gets a page record of its own, with the interests, stamps, cursors and properties of the kept run, so it
 * is live without a gap: its first poll finds what was notified since.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_CACHE_SERVE_H
#define VAULT_CACHE_SERVE_H

#include "httpd.h"

#include "output/output_store.h"

/** Answer by this entry, if it fits the request and everything that it depends on still holds.
 * @param stale   it may also be outdated by its interests or its time, as long as VaultCacheStale allows
 * @param status  what the handler returns
 * @return 1 answered; 0 it cannot be used */
int vault_cache_serve(request_rec *r, const vault_output_entry_t *entry, int stale, int *status);

#endif
