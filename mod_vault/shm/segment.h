/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file segment.h
 * The one piece of memory that all children share, and how it is cut up.
 *
 * Made by the parent before the first fork and kept over graceful restarts, so all processes map it at the same
 * address; what is stored *in* it is nevertheless offsets and fixed-width types only, checked before use, so
 * that a dump can be read and a stray write does not become a stray pointer. Anonymous: pages that are never
 * touched cost nothing.
 *
 * Create and carve: the parent, before any fork. Everything else: any thread of any process.
 */
#ifndef VAULT_SEGMENT_H
#define VAULT_SEGMENT_H

#include "apr_pools.h"

/** A place in the segment, in bytes from its beginning. 0 is no place. */
typedef apr_uint64_t vault_off_t;

typedef struct vault_segment_t vault_segment_t;

/** What a segment is made for. All of it fixed until the server is stopped. */
typedef struct vault_limits_t {
    apr_uint64_t size;      /* bytes, all in all */
    apr_uint32_t interests; /* interests at a time */
    apr_uint32_t pages;     /* pages at a time */
    apr_uint32_t slots;     /* children at a time, old generations included: 2 x ServerLimit */
} vault_limits_t;

/** @return APR_SUCCESS; APR_ENOMEM the system has no such memory; others from apr_shm */
apr_status_t vault_segment_create(vault_segment_t **segment, const vault_limits_t *limits, apr_pool_t *pool);

/** Cut `size` bytes, zeroed and aligned to 64, off what is left.
 * @return 0 when so much is not left */
vault_off_t vault_segment_carve(vault_segment_t *segment, apr_uint64_t size);

/** How much vault_segment_carve() can still give in one piece. */
apr_uint64_t vault_segment_left(const vault_segment_t *segment);

/** The address of a place; NULL for 0 and for any range that does not lie inside the segment. */
void *vault_segment_at(const vault_segment_t *segment, vault_off_t off, apr_uint64_t size);

const vault_limits_t *vault_segment_limits(const vault_segment_t *segment);

/** A random number of this segment's life: stamps of another boot mean nothing here. Never 0. */
apr_uint64_t vault_segment_boot(const vault_segment_t *segment);

#endif
