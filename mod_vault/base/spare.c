/* SPDX-License-Identifier: Apache-2.0 */
/* Free blocks, in a list of the process. A block belongs to no allocator while it is allocated, so any may be given it. */
#include "base/spare.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static apr_memnode_t *kept; /* lock */
static unsigned kept_count; /* lock */

/* @return what there is no room for */
static apr_memnode_t *keep(apr_memnode_t *blocks)
{
    apr_memnode_t *block;

    pthread_mutex_lock(&lock);
    while ((block = blocks) && kept_count < VAULT_SPARE_MOST) {
        blocks = block->next;
        block->next = kept;
        kept = block;
        kept_count++;
    }
    pthread_mutex_unlock(&lock);
    return blocks;
}

unsigned vault_spare_give(apr_allocator_t *allocator, apr_size_t max_free)
{
    apr_memnode_t *blocks = NULL, *block;
    unsigned given = 0;

    while (given < VAULT_SPARE_GIVEN && (block = apr_allocator_alloc(allocator, 1))) {
        block->next = blocks;
        blocks = block;
        given++;
    }
    blocks = keep(blocks);
    if (blocks) {
        apr_allocator_max_free_set(allocator, 1);
        apr_allocator_free(allocator, blocks);
        apr_allocator_max_free_set(allocator, max_free);
    }
    return given;
}

unsigned vault_spare_take(apr_allocator_t *allocator, unsigned count)
{
    apr_memnode_t *blocks = NULL, *block;
    unsigned taken = 0;

    pthread_mutex_lock(&lock);
    while (taken < count && (block = kept)) {
        kept = block->next;
        kept_count--;
        block->next = blocks;
        blocks = block;
        taken++;
    }
    pthread_mutex_unlock(&lock);
    if (blocks) {
        apr_allocator_free(allocator, blocks);
    }
    return taken;
}

unsigned vault_spare_count(void)
{
    unsigned count;

    pthread_mutex_lock(&lock);
    count = kept_count;
    pthread_mutex_unlock(&lock);
    return count;
}
