/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file hash.h
 * 64-bit numbers that stand for texts, by SipHash-2-4 (apr_siphash.h). Two different texts have the same number
 * once in 2^64 times.
 *
 * With a secret seed that also holds for texts that an attacker chooses. Where only the configuration or the
 * schema of a database chooses them, any constant will do. To hash several texts, pass the hash of the first
 * one as the seed of the next.
 *
 * Pure functions; the numbers are not the same on machines of another byte order.
 */
#ifndef VAULT_HASH_H
#define VAULT_HASH_H

#include <string.h>

#include "apr_siphash.h"

static inline apr_uint64_t vault_hash(apr_uint64_t seed, const void *data, apr_size_t length)
{
    const apr_uint64_t key[APR_SIPHASH_KSIZE / sizeof(apr_uint64_t)] = {seed, ~seed};

    return apr_siphash24(data, length, (const unsigned char *)key);
}

static inline apr_uint64_t vault_hash_text(apr_uint64_t seed, const char *text)
{
    return vault_hash(seed, text, strlen(text));
}

/** The same where 0 means "none": never 0. */
static inline apr_uint64_t vault_hash_id(apr_uint64_t seed, const char *text)
{
    const apr_uint64_t hash = vault_hash_text(seed, text);

    return hash ? hash : 1;
}

#endif
