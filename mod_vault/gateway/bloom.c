/* SPDX-License-Identifier: Apache-2.0 */
/* Bloom filters: see bloom.h. The positions of a name come from two halves of one hash (Kirsch and Mitzenmacher, 2006). */
#include "gateway/bloom.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define SEED APR_UINT64_C(0x7661756c74626c6f)
#define COUNT_MAX 255
/* For VAULT_BLOOM_PERCENT, as p: log2(1/p) positions of each name, of log2(1/p) / ln 2 for each name. */
#define HASHES 6
#define POSITIONS_OF_1000 8143

apr_uint64_t vault_bloom_hash(const char *name)
{
    return vault_hash_text(SEED, name);
}

apr_status_t vault_bloom_make(vault_bloom_t *b, apr_uint32_t names)
{
    apr_uint64_t positions = (((apr_uint64_t)names * POSITIONS_OF_1000 + 999) / 1000 + 7) / 8 * 8;
    unsigned char *counts;

    if (positions > VAULT_BLOOM_POSITIONS_MAX) {
        positions = VAULT_BLOOM_POSITIONS_MAX;
    }
    counts = calloc((size_t)positions, 1);
    if (!counts) {
        return APR_ENOMEM;
    }
    free(b->counts);
    b->counts = counts;
    b->positions = (apr_uint32_t)positions;
    b->hashes = HASHES;
    return APR_SUCCESS;
}

void vault_bloom_free(vault_bloom_t *b)
{
    free(b->counts);
    b->counts = NULL;
}

static apr_uint32_t position(apr_uint64_t hash, unsigned i, apr_uint32_t positions)
{
    apr_uint64_t step = hash >> 32 | 1;

    return (apr_uint32_t)(((hash & 0xffffffff) + i * step) % positions);
}

void vault_bloom_add(vault_bloom_t *b, apr_uint64_t hash)
{
    unsigned i;

    for (i = 0; i < b->hashes; i++) {
        unsigned char *count = &b->counts[position(hash, i, b->positions)];
        *count += *count < COUNT_MAX;
    }
}

void vault_bloom_remove(vault_bloom_t *b, apr_uint64_t hash)
{
    unsigned i;

    for (i = 0; i < b->hashes; i++) {
        unsigned char *count = &b->counts[position(hash, i, b->positions)];
        *count -= *count > 0 && *count < COUNT_MAX;
    }
}

void vault_bloom_write(const vault_bloom_t *b, unsigned char *bits)
{
    apr_uint32_t i;

    memset(bits, 0, b->positions / 8);
    for (i = 0; i < b->positions; i++) {
        bits[i / 8] |= (unsigned char)((b->counts[i] > 0) << i % 8);
    }
}

int vault_bloom_has(const vault_bloom_bits_t *b, apr_uint64_t hash)
{
    unsigned i;

    for (i = 0; i < b->hashes; i++) {
        apr_uint32_t at = position(hash, i, b->positions);
        if (!(b->bits[at / 8] >> at % 8 & 1)) {
            return 0;
        }
    }
    return 1;
}
