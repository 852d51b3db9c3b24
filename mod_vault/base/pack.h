/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file pack.h
 * Numbers and texts as one block of bytes: written by code that has measured it, read by code that trusts nothing in
 * it.
 *
 * A text is (u32 length, bytes, NUL) padded to 8; the length VAULT_PACK_NULL means NULL. Every item takes a multiple of
 * 8 bytes. Numbers are in the byte order of the machine: a block that another machine reads must say which it is
 * (page_packet.c).
 */
#ifndef VAULT_PACK_H
#define VAULT_PACK_H

#include "apr.h"

#define VAULT_PACK_ALIGN(n) (((apr_size_t)(n) + 7) & ~(apr_size_t)7)
#define VAULT_PACK_NULL 0xffffffffu

/** A block that is being written. With `at` NULL the same calls only measure: `size` grows, and nothing is written. */
typedef struct vault_packer_t {
    char *at;
    apr_size_t size; /* so far */
} vault_packer_t;

/** Two numbers, since each item takes a multiple of 8 bytes. */
void vault_pack_pair(vault_packer_t *w, apr_uint32_t a, apr_uint32_t b);
void vault_pack_u64(vault_packer_t *w, apr_uint64_t n);
/** @param s  NULL is kept apart from "" */
void vault_pack_text(vault_packer_t *w, const char *s);

/** A block that is being read. Once `bad` is set, every call answers 0 or NULL. */
typedef struct vault_unpacker_t {
    const char *at;
    apr_size_t left;
    int bad; /* the block ended within an item, a text has no NUL at its end, or the caller has set it */
} vault_unpacker_t;

/** The next `n` bytes, which must be a multiple of 8; NULL: there are fewer. */
const char *vault_unpack_bytes(vault_unpacker_t *r, apr_size_t n);
/** The first number of the next item, which is still to be read. */
apr_uint32_t vault_unpack_peek(vault_unpacker_t *r);
/** @param second  receives the second number; may be NULL */
apr_uint32_t vault_unpack_pair(vault_unpacker_t *r, apr_uint32_t *second);
apr_uint64_t vault_unpack_u64(vault_unpacker_t *r);
/** A text, which stays in the block; NULL: it was NULL, or the block is bad. */
const char *vault_unpack_text(vault_unpacker_t *r);

#endif
