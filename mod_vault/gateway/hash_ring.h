/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file hash_ring.h
 * Consistent hashing (Karger et al., 1997): which of several notification servers an interest belongs to.
 *
 * Each server has VAULT_RING_POINTS points on a circle, at places that depend on its name only. An interest belongs to
 * the server of the next point. So each server of a cluster that knows the same names chooses alike, in whichever order
 * they are configured, and a name that comes or goes moves only its own share.
 */
#ifndef VAULT_HASH_RING_H
#define VAULT_HASH_RING_H

#include "apr_pools.h"

#define VAULT_RING_POINTS 128

typedef struct vault_hash_ring_t vault_hash_ring_t; /* const once made: any thread */

/** @param names  of the servers; `count` of them, at least one, each once */
vault_hash_ring_t *vault_hash_ring_make(const char *const *names, unsigned count, apr_pool_t *pool);

/** The number of the server that this interest belongs to: its index in `names`. */
unsigned vault_hash_ring_owner(const vault_hash_ring_t *ring, const char *interest);

/** Identifies the names of the ring, in any order. */
apr_uint64_t vault_hash_ring_version(const vault_hash_ring_t *ring);

#endif
