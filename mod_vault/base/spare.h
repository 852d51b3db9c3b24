/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file spare.h
 * Free blocks of connections that wait, kept for those that wait no more.
 *
 * APR's allocators keep what is freed, each for itself: a connection that waits keeps what its last request has used. So it gives that
 * away, and what it gives goes to the system. But a page that is left hangs up and the next one comes and waits, and then each of them
 * has blocks mapped and unmapped, which costs as much as a plain request. So the process keeps some, and who is woken gets
 * back as many as it gave.
 *
 * Any thread; an allocator is that of a pool which only the calling thread has.
 */
#ifndef VAULT_SPARE_H
#define VAULT_SPARE_H

#include "apr_allocator.h"

/** As many blocks (8 KB each) are given at a time. Measured: a page and its answers leave at most so many. */
#define VAULT_SPARE_GIVEN 4
/** As many are kept, 1 MB. */
#define VAULT_SPARE_MOST 128

/** Take free blocks from an allocator, and keep them or give them to the system. They can only be got at by allocating, so what the
 * allocator does not have it gets, and that is given as well.
 * @param max_free  what the allocator may keep, as apr_allocator_max_free_set() had it
 * @return how many were given */
unsigned vault_spare_give(apr_allocator_t *allocator, apr_size_t max_free);

/** Give blocks that were kept to an allocator that will need them.
 * @param count  how many at the most
 * @return how many it got */
unsigned vault_spare_take(apr_allocator_t *allocator, unsigned count);

/** How many are kept. */
unsigned vault_spare_count(void);

#endif
