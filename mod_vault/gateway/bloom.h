/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bloom.h
 * Bloom filters: a set of names in a few bits for each, which may say that it has a name that it does not have.
 *
 * A counting filter (Fan et al., 2000) counts how many names use each position, so names can be removed. Other servers
 * need one bit of each count. A count that has reached its largest value stays there, as it is not known any more: then
 * some positions remain set, which does no harm.
 *
 * Names are given by a hash with a seed that all servers know. Threads: none of their own.
 */
#ifndef VAULT_BLOOM_H
#define VAULT_BLOOM_H

#include "apr.h"
#include "apr_errno.h"

/** Of names that a full filter does not have, it finds so many. */
#define VAULT_BLOOM_PERCENT 2
/** The most positions: half a megabyte of bits, for half a million names. With more names more are found that a filter
 * does not have. */
#define VAULT_BLOOM_POSITIONS_MAX (1u << 22)
#define VAULT_BLOOM_HASHES_MAX 32

/** The form that has bits. */
typedef struct vault_bloom_bits_t {
    unsigned char *bits;
    apr_uint32_t positions; /* a multiple of 8, at least 8 */
    unsigned hashes;        /* positions of each name; 1 to VAULT_BLOOM_HASHES_MAX */
} vault_bloom_bits_t;

typedef struct vault_bloom_t {
    unsigned char *counts; /* of each position */
    apr_uint32_t positions;
    unsigned hashes;
} vault_bloom_t;

/** Make an empty one for this many names, at least one.
 * @return APR_ENOMEM: the filter is as it was */
apr_status_t vault_bloom_make(vault_bloom_t *b, apr_uint32_t names);
void vault_bloom_free(vault_bloom_t *b);

apr_uint64_t vault_bloom_hash(const char *name);

void vault_bloom_add(vault_bloom_t *b, apr_uint64_t hash);
/** @param hash  was added before */
void vault_bloom_remove(vault_bloom_t *b, apr_uint64_t hash);

/** Write the bits. @param bits  has positions / 8 bytes */
void vault_bloom_write(const vault_bloom_t *b, unsigned char *bits);

int vault_bloom_has(const vault_bloom_bits_t *b, apr_uint64_t hash);

#endif
