/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file segment.h
 * The memory that all children share, and how it is divided.
 *
 * The parent creates the segment before the first fork and keeps it over graceful restarts, so all processes map it at
 * the same address. The data in it nevertheless has only offsets and fixed-width types, which are checked before use.
 * So a dump of it can be read, and a stray write does not become a stray pointer. The mapping is anonymous: pages that
 * are never touched take no RAM.
 *
 * The parent calls create and carve, before any fork. Any thread of any process may call the others.
 */
#ifndef VAULT_SEGMENT_H
#define VAULT_SEGMENT_H

#include "apr_pools.h"

/** An offset in the segment, in bytes from its beginning. 0: none. */
typedef apr_uint64_t vault_off_t;

typedef struct vault_segment_t vault_segment_t;

/** The sizes of a segment. They are fixed until the server is stopped. */
typedef struct vault_limits_t {
    apr_uint64_t size;      /* bytes in all, without `others` */
    apr_uint32_t interests; /* interests at a time */
    apr_uint32_t pages;     /* pages at a time */
    apr_uint32_t slots;     /* children at a time, old generations included: 2 x ServerLimit */
    apr_uint64_t others;    /* bytes for what is carved after these tables, in addition to `size` */
} vault_limits_t;

/** @return APR_SUCCESS; APR_ENOMEM the system has not enough memory; other errors of apr_shm */
apr_status_t vault_segment_create(vault_segment_t **segment, const vault_limits_t *limits, apr_pool_t *pool);

/** Allocate `size` bytes, zeroed and aligned to 64.
 * @return 0: the segment is too small */
vault_off_t vault_segment_carve(vault_segment_t *segment, apr_uint64_t size);

/** The largest size that vault_segment_carve() can still allocate. */
apr_uint64_t vault_segment_left(const vault_segment_t *segment);

/** The address of an offset; NULL for 0 and for any range that is not inside of the segment. */
void *vault_segment_at(const vault_segment_t *segment, vault_off_t off, apr_uint64_t size);

const vault_limits_t *vault_segment_limits(const vault_segment_t *segment);

/** A random number that identifies this segment. Stamps that were taken with another boot number are void. Never 0. */
apr_uint64_t vault_segment_boot(const vault_segment_t *segment);

#endif
