/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file hash_ring.h
 * Consistent hashing (Karger et al., 1997): which of several notification engines an interest belongs to.
 *
 * Each engine has VAULT_RING_POINTS points on a circle, at positions that depend on its name only. An interest
 * belongs to the engine of the next point. So all servers that know the same engines choose the same one, in
 * whichever order these are configured, and an engine that is added or removed moves only its own share of the
 * interests.
 */
#ifndef VAULT_HASH_RING_H
#define VAULT_HASH_RING_H

#include "apr_pools.h"

#define VAULT_RING_POINTS 128

typedef struct vault_hash_ring_t vault_hash_ring_t; /* const once made: any thread */

/** @param names  of the engines; `count` of them, at least one, each once */
vault_hash_ring_t *vault_hash_ring_make(const char *const *names, unsigned count, apr_pool_t *pool);

/** The engine that this interest belongs to, as an index in `names`. */
unsigned vault_hash_ring_owner(const vault_hash_ring_t *ring, const char *interest);

/** Identifies the names of the ring, in any order. */
apr_uint64_t vault_hash_ring_version(const vault_hash_ring_t *ring);

#endif
