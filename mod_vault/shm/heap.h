/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file heap.h
 * Blocks of any size in the shared segment.
 *
 * A span of 16 KiB has blocks of one size class. It is freed when it is empty, so no size class takes the memory of the
 * others for long. A process that is killed inside of the heap leaks at most the one block that it was handling:
 * bitmaps of blocks change by single stores, and counts and lists are rebuilt when the lock reports that its owner
 * died. vault_pages_count_lost() counts what was leaked. APR's apr_rmm does not fit: it searches one list first-fit,
 * and its lock does not report the death of an owner.
 *
 * Any thread of any process may call these functions. One lock is held for some tens of instructions.
 */
#ifndef VAULT_HEAP_H
#define VAULT_HEAP_H

#include "shm/segment.h"

/** The largest block. */
#define VAULT_HEAP_BLOCK_MAX (256 * 1024)

typedef struct vault_heap_t vault_heap_t;

/** Create a heap of `size` bytes in the segment. The parent calls it before any fork.
 * @return APR_SUCCESS; APR_ENOSPC the segment is too small */
apr_status_t vault_heap_create(vault_heap_t **heap, vault_segment_t *segment, apr_uint64_t size, apr_pool_t *pool);

/** @return the offset of `size` bytes, aligned to 16, contents undefined; 0: the heap is full, or the size is 0 or too
 *         large */
vault_off_t vault_heap_alloc(vault_heap_t *heap, apr_size_t size);

/** Free a block. @return 0: the offset is not that of a block in use, and nothing was done */
int vault_heap_free(vault_heap_t *heap, vault_off_t block);

/** How many bytes of the heap a block of `size` bytes takes: those of its class, or of whole spans. 0: the size is 0 or
 * too large. */
apr_size_t vault_heap_takes(apr_size_t size);
/** The same for a block in use. Takes no lock, so only the owner of the block may call it. 0: it is no block. */
apr_size_t vault_heap_block_takes(const vault_heap_t *heap, vault_off_t block);

/** The address of a block; NULL: the offset is not in this heap. */
void *vault_heap_at(const vault_heap_t *heap, vault_off_t block);

/** Bytes in blocks that are in use (rounded up to their class), and bytes in all. */
apr_uint64_t vault_heap_used(const vault_heap_t *heap);
apr_uint64_t vault_heap_size(const vault_heap_t *heap);

/** Compare all lists with the counts. For tests and `vaultctl check`.
 * @return NULL, or the first inconsistency */
const char *vault_heap_check(vault_heap_t *heap);

#endif
