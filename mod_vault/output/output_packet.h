/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file output_packet.h
 * An output as one block of bytes, for a cache that several servers share.
 *
 * The block names its key and has a checksum with a seed. A block that was truncated, damaged, written under another
 * key, by a version with another layout, on a machine of another byte order, or by a server with another seed is
 * refused. With a secret seed a block forged by another program is refused as well.
 *
 * Only outputs that depend on nothing but a time can be shared so: the stamps of interests are numbers of one server.
 *
 * Pure functions; the caller owns the memory.
 */
#ifndef VAULT_OUTPUT_PACKET_H
#define VAULT_OUTPUT_PACKET_H

#include "apr_pools.h"
#include "apr_time.h"

typedef struct vault_output_packet_t {
    const char *key; /* bytes, no NUL behind them */
    apr_size_t key_size;
    const void *metadata;
    apr_size_t metadata_size;
    const char *body;
    apr_size_t body_size;
    apr_time_t made, until; /* by the system clock; both are needed */
} vault_output_packet_t;

/** The most bytes that a block has beside the key, the metadata and the body. */
#define VAULT_OUTPUT_PACKET_HEAD 128

/** A block, in `pool`. */
char *vault_output_packet_encode(const vault_output_packet_t *packet, apr_uint64_t seed, apr_size_t *size,
                                 apr_pool_t *pool);

/** Read a block.
 * @param packet  with the key that is expected; the result points into the block
 * @return NULL; or half a sentence: why it is refused */
const char *vault_output_packet_decode(vault_output_packet_t *packet, apr_uint64_t seed, const char *block,
                                       apr_size_t size);

#endif
