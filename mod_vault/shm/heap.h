/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file heap.h
 * Blocks of any size in the shared segment.
 *
 * Spans of 16 KiB serve one size class each and go back when they are empty, so that one size never starves
 * another for long. A process killed inside leaks at most the one block that it was handling: maps of blocks
 * change by single stores, and counts and lists are rebuilt when the lock reports a dead owner.
 * vault_pages_count_lost() counts what was leaked. (apr_rmm was looked at first: first fit over one list, and a
 * lock that does not tell of dead owners.)
 *
 * Any thread of any process; one lock, held for some tens of instructions.
 */
#ifndef VAULT_HEAP_H
#define VAULT_HEAP_H

#include "shm/segment.h"

/** The largest block. */
#define VAULT_HEAP_BLOCK_MAX (256 * 1024)

typedef struct vault_heap_t vault_heap_t;

/** Make a heap of `size` bytes in the segment. Parent, before any fork.
 * @return APR_SUCCESS; APR_ENOSPC the segment has not so much left */
apr_status_t vault_heap_create(vault_heap_t **heap, vault_segment_t *segment, apr_uint64_t size, apr_pool_t *pool);

/** @return a place for `size` bytes, aligned to 16, contents undefined; 0 when full or size is 0 or over the maximum */
vault_off_t vault_heap_alloc(vault_heap_t *heap, apr_size_t size);

/** Give a block back. A place that is not the beginning of a block in use is refused (0 returned, nothing done). */
int vault_heap_free(vault_heap_t *heap, vault_off_t block);

/** How many bytes of the heap a block of `size` bytes takes: those of its class, or of whole spans. 0: there is
 * no such block. */
apr_size_t vault_heap_takes(apr_size_t size);
/** The same of a block in use, for the one who has it: takes no lock. 0: there is no block. */
apr_size_t vault_heap_block_takes(const vault_heap_t *heap, vault_off_t block);

/** The address of a block; NULL when the place does not lie in this heap. */
void *vault_heap_at(const vault_heap_t *heap, vault_off_t block);

/** Bytes in blocks given out (rounded up to their class), and bytes in all. */
apr_uint64_t vault_heap_used(const vault_heap_t *heap);
apr_uint64_t vault_heap_size(const vault_heap_t *heap);

/** Walk everything and compare lists with counts. For tests and `vaultctl check`.
 * @return NULL, or the first thing that is wrong */
const char *vault_heap_check(vault_heap_t *heap);

#endif
