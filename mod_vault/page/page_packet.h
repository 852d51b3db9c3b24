/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page_packet.h
 * A snapshot of a page as one block of bytes, for a store that several servers share.
 *
 * The block names the virtual host and the realm of the owner. It has a checksum, whose seed is a secret and the id
 * of the page; the id itself is a secret of the browser, and not in the block. A block that was cut, damaged, written
 * for another page, by a version with another layout, on a machine of another byte order, by a server with another
 * secret or by another program is refused.
 *
 * Pure functions; the caller owns the memory.
 */
#ifndef VAULT_PAGE_PACKET_H
#define VAULT_PAGE_PACKET_H

#include "page/page_snapshot.h"

typedef struct vault_page_packet_t {
    vault_page_t page;  /* without its index */
    apr_uint64_t host;  /* identifies the virtual host on all servers with the same secret */
    apr_uint64_t realm; /* of the user; 0: there is none */
    apr_uint64_t sum;   /* the checksum: identifies the contents; never 0 */
    vault_page_snapshot_t snapshot;
} vault_page_packet_t;

/** Encode a page as a block, in `pool`. Leaves out the interests of the states. Sets `packet->sum`.
 * @param size  receives the size of the block in bytes */
char *vault_page_packet_encode(vault_page_packet_t *packet, apr_uint64_t seed, apr_size_t *size, apr_pool_t *pool);

/** Read a block.
 * @param packet  with the page that is expected; what is read is in `pool`
 * @return NULL; or half a sentence: why it is refused */
const char *vault_page_packet_decode(vault_page_packet_t *packet, apr_uint64_t seed, const char *block, apr_size_t size,
                                     apr_pool_t *pool);

#endif
