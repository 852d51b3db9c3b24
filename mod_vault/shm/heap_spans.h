/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file heap_spans.h
 * The layout of the heap in the segment. Internal: for heap.c and heap_check.c.
 */
#ifndef VAULT_HEAP_SPANS_H
#define VAULT_HEAP_SPANS_H

#include "shm/heap.h"
#include "shm/lock.h"

#define VAULT_HEAP_SPAN_SIZE (16 * 1024)
#define VAULT_HEAP_SPAN_WORDS 8 /* 64-bit words in the bitmap of a span: 512 blocks of the smallest class */
#define VAULT_HEAP_RUN_MAX (VAULT_HEAP_BLOCK_MAX / VAULT_HEAP_SPAN_SIZE)
#define VAULT_HEAP_NONE APR_UINT32_MAX

/* Steps of an eighth to a quarter, chosen so that blocks fill a span; multiples of 16. */
static const apr_uint16_t vault_heap_class_size[] = {32,   48,   64,   80,   96,   112,  128,  160,  192,  224,
                                                     256,  320,  384,  448,  512,  640,  768,  896,  1024, 1168,
                                                     1360, 1632, 2048, 2336, 2720, 3264, 4096, 5456, 8192};
#define VAULT_HEAP_CLASSES (sizeof(vault_heap_class_size) / sizeof(vault_heap_class_size[0]))
#define VAULT_HEAP_CAPACITY(cls) ((unsigned)VAULT_HEAP_SPAN_SIZE / vault_heap_class_size[cls])

_Static_assert(VAULT_HEAP_SPAN_SIZE / 32 == VAULT_HEAP_SPAN_WORDS * 64, "the smallest class fills the map");

/* The kind of a span. 0: unused, or a later span of a run; 1 and up: the number of its class plus one; with this bit:
 * the first span of a run, and the length of the run. */
#define VAULT_HEAP_KIND_RUN 0x80000000u

typedef struct vault_span_t {
    apr_uint32_t kind;                       /* lock; primary */
    apr_uint32_t used;                       /* lock; derived: blocks in use */
    apr_uint32_t next;                       /* lock; derived: in the list of its class, or VAULT_HEAP_NONE */
    apr_uint32_t prev;                       /* lock; derived */
    apr_uint64_t map[VAULT_HEAP_SPAN_WORDS]; /* lock; primary: blocks in use, if the kind is a class */
} vault_span_t;

typedef struct vault_heap_header_t {
    _Alignas(64) vault_lock_t lock;
    apr_uint64_t used;                /* atomic, written under lock; derived: bytes */
    _Alignas(64) apr_uint32_t lowest; /* lock; derived: every span below is in use */
    /* lock; derived: the first span of the class that has free blocks, or VAULT_HEAP_NONE */
    apr_uint32_t room[VAULT_HEAP_CLASSES];
} vault_heap_header_t;

/* Plain data: it outlives the unloading of this code. */
struct vault_heap_t {
    vault_heap_header_t *header;
    vault_span_t *spans;
    apr_uint64_t *taken; /* lock; derived: a bit for each span in use */
    char *blocks;
    vault_off_t first;  /* offset of the first block */
    apr_uint32_t count; /* number of spans */
};

static inline int vault_span_is_taken(const vault_heap_t *h, apr_uint32_t span)
{
    return (h->taken[span / 64] >> (span % 64)) & 1;
}

/** The length of the run that begins with this span; 0: no run begins here. */
static inline apr_uint32_t vault_span_run_length(const vault_heap_t *h, apr_uint32_t i)
{
    apr_uint32_t kind = h->spans[i].kind, length = kind & ~VAULT_HEAP_KIND_RUN;

    return kind & VAULT_HEAP_KIND_RUN && length <= VAULT_HEAP_RUN_MAX && length <= h->count - i ? length : 0;
}

static inline unsigned vault_span_blocks_in_use(const vault_span_t *span)
{
    unsigned word, used = 0;

    for (word = 0; word < VAULT_HEAP_SPAN_WORDS && span->kind >= 1 && span->kind <= VAULT_HEAP_CLASSES; word++) {
        used += (unsigned)__builtin_popcountll(span->map[word]);
    }
    return used;
}

/** Take the lock of the heap. If its last owner died, rebuild all that is derived. */
void vault_heap_acquire(vault_heap_t *h);

#endif
