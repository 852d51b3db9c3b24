/* SPDX-License-Identifier: Apache-2.0 */
/* Growing text: short blocks come from malloc(), long ones from mmap(). A header before the text tells which. */
#include "base/text.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Blocks of this length and above are mapped. A page fault for each 4 KB is cheap compared with writing them. */
#define LONG (128 * 1024)

typedef struct block_t {
    apr_size_t size; /* of the whole block */
    vault_text_gone_t *gone;
    apr_size_t amount;
    apr_uint32_t which;
    char text[];
} block_t;

static block_t *block_of(char *text)
{
    return (block_t *)(text - offsetof(block_t, text));
}

static int is_mapped(const block_t *block)
{
    return block && block->size >= LONG;
}

static void release(block_t *block)
{
    if (is_mapped(block)) {
        munmap(block, block->size);
    }
    else {
        free(block);
    }
}

static block_t *map(apr_size_t size)
{
    block_t *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return block == MAP_FAILED ? NULL : block;
}

/* Moves the text between the two kinds of blocks. */
static block_t *move(block_t *old, apr_size_t size)
{
    block_t *block = size >= LONG ? map(size) : malloc(size);

    if (block && old) {
        memcpy(block, old, old->size < size ? old->size : size);
        release(old);
    }
    return block;
}

static block_t *resize(block_t *old, apr_size_t size)
{
    block_t *block;

    if (old && is_mapped(old) && size >= LONG) {
        block = mremap(old, old->size, size, MREMAP_MAYMOVE);
        return block == MAP_FAILED ? NULL : block;
    }
    return old && !is_mapped(old) && size < LONG ? realloc(old, size) : move(old, size);
}

char *vault_text_resize(char *text, apr_size_t capacity)
{
    block_t *block;

    if (capacity > APR_SIZE_MAX - sizeof(*block) ||
        !(block = resize(text ? block_of(text) : NULL, sizeof(*block) + capacity))) {
        return NULL;
    }
    block->size = sizeof(*block) + capacity;
    if (!text) {
        block->gone = NULL;
    }
    return block->text;
}

apr_size_t vault_text_capacity(char *text)
{
    return block_of(text)->size - sizeof(block_t);
}

void vault_text_free(void *text)
{
    block_t *block = text ? block_of(text) : NULL;

    if (block && block->gone) {
        block->gone(block->which, block->amount);
    }
    if (block) {
        release(block);
    }
}

void vault_text_on_free(char *text, vault_text_gone_t *gone, apr_uint32_t which, apr_size_t amount)
{
    block_t *block = block_of(text);

    block->gone = gone;
    block->which = which;
    block->amount = amount;
}
