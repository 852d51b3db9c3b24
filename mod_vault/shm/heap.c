/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file heap.c
 * Blocks of any size in the shared segment: spans of one size class with a bitmap of their blocks, and runs of whole
 * spans. heap_spans.h has the layout.
 *
 * Few words are primary, and each of them is changed by a single store: the kind of a span (unused, a size class, or
 * the first span of a run with its length), and the bitmap of blocks in use. Everything else (the counts, the lists of
 * spans with free blocks, the bitmap of spans in use) is derived from these, and is rebuilt when the lock reports that
 * its owner died. The heap stores nothing inside of blocks. So a program that writes beyond its block damages the data
 * in the next block, but not the heap, and vault_heap_free() recognises an address that is not a block. Single spans
 * are allocated from the front and runs from the back, so that small blocks with a long life do not split the space for
 * large ones, and memory that was never needed is not touched.
 */
#include "shm/heap.h"

#include <string.h>

#include "shm/heap_spans.h"

#define ALIGN64(size) (((apr_uint64_t)(size) + 63) & ~(apr_uint64_t)63)
#define TAKEN_BYTES(spans) (((apr_uint64_t)(spans) + 63) / 64 * sizeof(apr_uint64_t))

/* ------------------------------------------------------------------- create */

static apr_uint64_t space_of(apr_uint64_t spans)
{
    return ALIGN64(sizeof(vault_heap_header_t)) + ALIGN64(spans * sizeof(vault_span_t)) + ALIGN64(TAKEN_BYTES(spans)) +
           spans * VAULT_HEAP_SPAN_SIZE;
}

static void no_room(vault_heap_header_t *header)
{
    unsigned c;

    for (c = 0; c < VAULT_HEAP_CLASSES; c++) {
        header->room[c] = VAULT_HEAP_NONE;
    }
}

apr_status_t vault_heap_create(vault_heap_t **heap, vault_segment_t *segment, apr_uint64_t size, apr_pool_t *pool)
{
    apr_uint64_t spans = size / (VAULT_HEAP_SPAN_SIZE + sizeof(vault_span_t));
    vault_heap_t *h;
    vault_off_t off;
    char *base;

    *heap = NULL;
    while (spans && space_of(spans) > size) {
        spans--;
    }
    if (spans == 0 || spans >= VAULT_HEAP_KIND_RUN) {
        return APR_ENOSPC;
    }
    off = vault_segment_carve(segment, space_of(spans));
    base = vault_segment_at(segment, off, space_of(spans));
    if (!base) {
        return APR_ENOSPC;
    }
    h = apr_pcalloc(pool, sizeof(*h));
    h->count = (apr_uint32_t)spans;
    h->header = (vault_heap_header_t *)base;
    h->spans = (vault_span_t *)(base + ALIGN64(sizeof(vault_heap_header_t)));
    h->taken = (apr_uint64_t *)((char *)h->spans + ALIGN64(spans * sizeof(vault_span_t)));
    h->blocks = (char *)h->taken + ALIGN64(TAKEN_BYTES(spans));
    h->first = off + (apr_uint64_t)(h->blocks - base);
    no_room(h->header);
    *heap = h;
    return vault_lock_init(&h->header->lock);
}

static void mark(vault_heap_t *h, apr_uint32_t span, apr_uint32_t length, int taken)
{
    if (!taken && span < h->header->lowest) {
        h->header->lowest = span;
    }
    for (; length; length--, span++) {
        apr_uint64_t bit = APR_UINT64_C(1) << (span % 64);

        h->taken[span / 64] = taken ? h->taken[span / 64] | bit : h->taken[span / 64] & ~bit;
    }
}

/* The first free span. Moves `lowest` up as far as possible. */
static apr_uint32_t find_span(vault_heap_t *h)
{
    apr_uint32_t i = h->header->lowest;

    while (i < h->count && vault_span_is_taken(h, i)) {
        i = i % 64 == 0 && h->taken[i / 64] == ~APR_UINT64_C(0) ? i + 64 : i + 1;
    }
    h->header->lowest = i < h->count ? i : h->count;
    return i < h->count ? i : VAULT_HEAP_NONE;
}

/* The last run of this many free spans. */
static apr_uint32_t find_run(const vault_heap_t *h, apr_uint32_t length)
{
    apr_uint32_t i = h->count, found = 0;

    while (i > h->header->lowest) {
        if (i % 64 == 0 && h->taken[i / 64 - 1] == ~APR_UINT64_C(0)) {
            i -= 64;
            found = 0;
            continue;
        }
        found = vault_span_is_taken(h, --i) ? 0 : found + 1;
        if (found == length) {
            return i;
        }
    }
    return VAULT_HEAP_NONE;
}

static void store_kind(vault_span_t *span, apr_uint32_t kind)
{
    __atomic_store_n(&span->kind, kind, __ATOMIC_RELEASE);
}

static void count_used(vault_heap_t *h, apr_uint64_t bytes)
{
    __atomic_store_n(&h->header->used, h->header->used + bytes, __ATOMIC_RELAXED);
}

static void link_room(vault_heap_t *h, apr_uint32_t i, unsigned cls)
{
    apr_uint32_t head = h->header->room[cls];

    h->spans[i].prev = VAULT_HEAP_NONE;
    h->spans[i].next = head;
    if (head != VAULT_HEAP_NONE) {
        h->spans[head].prev = i;
    }
    h->header->room[cls] = i;
}

static void unlink_room(vault_heap_t *h, apr_uint32_t i, unsigned cls)
{
    vault_span_t *span = &h->spans[i];

    if (span->prev != VAULT_HEAP_NONE) {
        h->spans[span->prev].next = span->next;
    }
    else {
        h->header->room[cls] = span->next;
    }
    if (span->next != VAULT_HEAP_NONE) {
        h->spans[span->next].prev = span->prev;
    }
}

/* ------------------------------------------------------------------- repair */

/* Counts a span, and links it if it has free blocks. @return how many spans it covers */
static apr_uint32_t recount_span(vault_heap_t *h, apr_uint32_t i)
{
    vault_span_t *span = &h->spans[i];
    apr_uint32_t length = vault_span_run_length(h, i);

    if (length) {
        mark(h, i, length, 1);
        count_used(h, (apr_uint64_t)length * VAULT_HEAP_SPAN_SIZE);
        return length;
    }
    span->used = vault_span_blocks_in_use(span);
    if (span->used == 0) {
        store_kind(span, 0);
        return 1;
    }
    mark(h, i, 1, 1);
    count_used(h, (apr_uint64_t)span->used * vault_heap_class_size[span->kind - 1]);
    if (span->used < VAULT_HEAP_CAPACITY(span->kind - 1)) {
        link_room(h, i, span->kind - 1);
    }
    return 1;
}

static void repair_locked(vault_heap_t *h)
{
    apr_uint32_t i;

    h->header->used = 0;
    h->header->lowest = 0;
    no_room(h->header);
    memset(h->taken, 0, TAKEN_BYTES(h->count));
    for (i = 0; i < h->count;) {
        i += recount_span(h, i);
    }
}

/* No request waits for a block, so the death of the owner loses no notify. The parent notifies all when it reaps the
 * child (slot.h). */
void vault_heap_acquire(vault_heap_t *h)
{
    if (vault_lock_acquire(&h->header->lock)) {
        repair_locked(h);
    }
}

/* ------------------------------------------------------------------- blocks */

/* @return VAULT_HEAP_NONE: the heap is full */
static apr_uint32_t span_with_room_locked(vault_heap_t *h, unsigned cls)
{
    apr_uint32_t i = h->header->room[cls];

    if (i != VAULT_HEAP_NONE) {
        return i;
    }
    i = find_span(h);
    if (i != VAULT_HEAP_NONE) {
        memset(h->spans[i].map, 0, sizeof(h->spans[i].map));
        h->spans[i].used = 0;
        mark(h, i, 1, 1);
        store_kind(&h->spans[i], cls + 1);
        link_room(h, i, cls);
    }
    return i;
}

static vault_off_t alloc_block_locked(vault_heap_t *h, unsigned cls)
{
    apr_uint32_t i = span_with_room_locked(h, cls);
    vault_span_t *span;
    unsigned word = 0, block;

    if (i == VAULT_HEAP_NONE) {
        return 0;
    }
    span = &h->spans[i];
    while (word < VAULT_HEAP_SPAN_WORDS - 1 && span->map[word] == ~APR_UINT64_C(0)) {
        word++;
    }
    block = word * 64 + (unsigned)__builtin_ctzll(~span->map[word]);
    span->used++;
    count_used(h, vault_heap_class_size[cls]);
    if (span->used == VAULT_HEAP_CAPACITY(cls)) {
        unlink_room(h, i, cls);
    }
    __atomic_store_n(&span->map[word], span->map[word] | APR_UINT64_C(1) << (block % 64), __ATOMIC_RELEASE);
    return h->first + (apr_uint64_t)i * VAULT_HEAP_SPAN_SIZE + (apr_uint64_t)block * vault_heap_class_size[cls];
}

static vault_off_t alloc_run_locked(vault_heap_t *h, apr_uint32_t length)
{
    apr_uint32_t i = find_run(h, length);

    if (i == VAULT_HEAP_NONE) {
        return 0;
    }
    mark(h, i, length, 1);
    count_used(h, (apr_uint64_t)length * VAULT_HEAP_SPAN_SIZE);
    store_kind(&h->spans[i], VAULT_HEAP_KIND_RUN | length);
    return h->first + (apr_uint64_t)i * VAULT_HEAP_SPAN_SIZE;
}

static unsigned class_of(apr_size_t size)
{
    unsigned cls = 0;

    while (cls < VAULT_HEAP_CLASSES && vault_heap_class_size[cls] < size) {
        cls++;
    }
    return cls;
}

static apr_uint32_t spans_of(apr_size_t size)
{
    return (apr_uint32_t)((size + VAULT_HEAP_SPAN_SIZE - 1) / VAULT_HEAP_SPAN_SIZE);
}

apr_size_t vault_heap_takes(apr_size_t size)
{
    unsigned cls = class_of(size);

    if (size == 0 || size > VAULT_HEAP_BLOCK_MAX) {
        return 0;
    }
    return cls < VAULT_HEAP_CLASSES ? vault_heap_class_size[cls] : (apr_size_t)spans_of(size) * VAULT_HEAP_SPAN_SIZE;
}

/* The kind of a span does not change while one of its blocks is in use. */
apr_size_t vault_heap_block_takes(const vault_heap_t *h, vault_off_t block)
{
    apr_uint32_t kind;

    if (!vault_heap_at(h, block)) {
        return 0;
    }
    kind = __atomic_load_n(&h->spans[(block - h->first) / VAULT_HEAP_SPAN_SIZE].kind, __ATOMIC_ACQUIRE);
    if (kind & VAULT_HEAP_KIND_RUN) {
        return (apr_size_t)(kind & ~VAULT_HEAP_KIND_RUN) * VAULT_HEAP_SPAN_SIZE;
    }
    return kind >= 1 && kind <= VAULT_HEAP_CLASSES ? vault_heap_class_size[kind - 1] : 0;
}

vault_off_t vault_heap_alloc(vault_heap_t *h, apr_size_t size)
{
    vault_off_t block;
    unsigned cls = class_of(size);

    if (size == 0 || size > VAULT_HEAP_BLOCK_MAX) {
        return 0;
    }
    vault_heap_acquire(h);
    if (cls < VAULT_HEAP_CLASSES) {
        block = alloc_block_locked(h, cls);
    }
    else {
        block = alloc_run_locked(h, spans_of(size));
    }
    vault_lock_release(&h->header->lock);
    return block;
}

static int free_block_locked(vault_heap_t *h, apr_uint32_t i, apr_uint32_t inside)
{
    vault_span_t *span = &h->spans[i];
    unsigned cls = span->kind - 1;
    unsigned block = inside / vault_heap_class_size[cls];
    apr_uint64_t *word = &span->map[block / 64];
    apr_uint64_t bit = APR_UINT64_C(1) << (block % 64);

    if (inside % vault_heap_class_size[cls] || block >= VAULT_HEAP_CAPACITY(cls) || !(*word & bit)) {
        return 0;
    }
    __atomic_store_n(word, *word & ~bit, __ATOMIC_RELEASE);
    count_used(h, (apr_uint64_t)0 - vault_heap_class_size[cls]);
    if (span->used-- == VAULT_HEAP_CAPACITY(cls)) {
        link_room(h, i, cls);
    }
    if (span->used == 0) {
        unlink_room(h, i, cls);
        store_kind(span, 0);
        mark(h, i, 1, 0);
    }
    return 1;
}

static int free_run_locked(vault_heap_t *h, apr_uint32_t i, apr_uint32_t inside)
{
    apr_uint32_t length = vault_span_run_length(h, i);

    if (inside || length == 0) {
        return 0;
    }
    store_kind(&h->spans[i], 0);
    count_used(h, (apr_uint64_t)0 - (apr_uint64_t)length * VAULT_HEAP_SPAN_SIZE);
    mark(h, i, length, 0);
    return 1;
}

static int free_locked(vault_heap_t *h, apr_uint32_t span, apr_uint32_t inside)
{
    if (h->spans[span].kind & VAULT_HEAP_KIND_RUN) {
        return free_run_locked(h, span, inside);
    }
    return h->spans[span].kind >= 1 && h->spans[span].kind <= VAULT_HEAP_CLASSES && free_block_locked(h, span, inside);
}

int vault_heap_free(vault_heap_t *h, vault_off_t block)
{
    int freed;

    if (!vault_heap_at(h, block)) {
        return 0;
    }
    vault_heap_acquire(h);
    freed = free_locked(h, (apr_uint32_t)((block - h->first) / VAULT_HEAP_SPAN_SIZE),
                        (apr_uint32_t)((block - h->first) % VAULT_HEAP_SPAN_SIZE));
    vault_lock_release(&h->header->lock);
    return freed;
}

void *vault_heap_at(const vault_heap_t *h, vault_off_t block)
{
    if (block < h->first || block - h->first >= (apr_uint64_t)h->count * VAULT_HEAP_SPAN_SIZE ||
        (block - h->first) % 16) {
        return NULL;
    }
    return h->blocks + (block - h->first);
}

apr_uint64_t vault_heap_used(const vault_heap_t *h)
{
    return __atomic_load_n(&h->header->used, __ATOMIC_RELAXED);
}

apr_uint64_t vault_heap_size(const vault_heap_t *h)
{
    return (apr_uint64_t)h->count * VAULT_HEAP_SPAN_SIZE;
}
