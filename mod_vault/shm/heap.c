/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file heap.c
 * Blocks of any size in the shared segment: spans of one size class with a map of their blocks, and runs of whole spans.
 *
 * What is true is in few words, each changed by a single store: the kind of a span (nothing, a class, the head of a run and its
 * length) and the map of the blocks in use. All else (the counts, the lists of spans with room, the map of taken spans) is derived
 * and made anew when the lock tells of a dead owner. Nothing is kept inside the blocks, so a program that writes past its own
 * block spoils its neighbour's data, not the heap; and a wrong place given to vault_heap_free() is recognised.
 * Single spans are taken from the front and runs from the back, so that small blocks that live long do not lie in the way of
 * large ones, and what was never needed is never touched.
 */
#include "shm/heap.h"

#include <string.h>

#include "shm/lock.h"

#define SPAN_SIZE (16 * 1024)
#define SPAN_WORDS 8 /* 64-bit words in the map of a span: 512 blocks of the smallest class */
#define RUN_MAX (VAULT_HEAP_BLOCK_MAX / SPAN_SIZE)
#define NONE APR_UINT32_MAX
#define ALIGN64(size) (((apr_uint64_t)(size) + 63) & ~(apr_uint64_t)63)
#define TAKEN_BYTES(spans) (((apr_uint64_t)(spans) + 63) / 64 * sizeof(apr_uint64_t))

/* Steps of an eighth to a quarter, chosen to fill a span; multiples of 16. */
static const apr_uint16_t class_size[] = {32,   48,   64,   80,   96,   112,  128,  160,  192,  224,
                                          256,  320,  384,  448,  512,  640,  768,  896,  1024, 1168,
                                          1360, 1632, 2048, 2336, 2720, 3264, 4096, 5456, 8192};
#define CLASSES (sizeof(class_size) / sizeof(class_size[0]))
#define CAPACITY(cls) ((unsigned)SPAN_SIZE / class_size[cls])

_Static_assert(SPAN_SIZE / 32 == SPAN_WORDS * 64, "the smallest class fills the map");

/* The kind of a span: 0 nothing (or the rest of a run), 1 and up a class and one, or this bit and a length. */
#define KIND_RUN 0x80000000u

typedef struct span_t {
    apr_uint32_t kind;            /* lock; the truth */
    apr_uint32_t used;            /* lock; derived: blocks in use */
    apr_uint32_t next;            /* lock; derived: in the list of its class, or NONE */
    apr_uint32_t prev;            /* lock; derived */
    apr_uint64_t map[SPAN_WORDS]; /* lock; the truth: blocks in use, when the kind is a class */
} span_t;

typedef struct heap_header_t {
    _Alignas(64) vault_lock_t lock;
    apr_uint64_t used;                /* atomic, written under lock; derived: bytes */
    _Alignas(64) apr_uint32_t lowest; /* lock; derived: every span below is taken */
    apr_uint32_t room[CLASSES];       /* lock; derived: first span of the class with a free block, or NONE */
} heap_header_t;

/* Plain data: it outlives an unloading of this code. */
struct vault_heap_t {
    heap_header_t *header;
    span_t *spans;
    apr_uint64_t *taken; /* lock; derived: a bit for each span */
    char *blocks;
    vault_off_t first;  /* place of the first block */
    apr_uint32_t count; /* of spans */
};

/* ------------------------------------------------------------------- create */

static apr_uint64_t space_of(apr_uint64_t spans)
{
    return ALIGN64(sizeof(heap_header_t)) + ALIGN64(spans * sizeof(span_t)) + ALIGN64(TAKEN_BYTES(spans)) +
           spans * SPAN_SIZE;
}

static void no_room(heap_header_t *header)
{
    unsigned c;

    for (c = 0; c < CLASSES; c++) {
        header->room[c] = NONE;
    }
}

apr_status_t vault_heap_create(vault_heap_t **heap, vault_segment_t *segment, apr_uint64_t size, apr_pool_t *pool)
{
    apr_uint64_t spans = size / (SPAN_SIZE + sizeof(span_t));
    vault_heap_t *h;
    vault_off_t off;
    char *base;

    *heap = NULL;
    while (spans && space_of(spans) > size) {
        spans--;
    }
    if (spans == 0 || spans >= KIND_RUN) {
        return APR_ENOSPC;
    }
    off = vault_segment_carve(segment, space_of(spans));
    base = vault_segment_at(segment, off, space_of(spans));
    if (!base) {
        return APR_ENOSPC;
    }
    h = apr_pcalloc(pool, sizeof(*h));
    h->count = (apr_uint32_t)spans;
    h->header = (heap_header_t *)base;
    h->spans = (span_t *)(base + ALIGN64(sizeof(heap_header_t)));
    h->taken = (apr_uint64_t *)((char *)h->spans + ALIGN64(spans * sizeof(span_t)));
    h->blocks = (char *)h->taken + ALIGN64(TAKEN_BYTES(spans));
    h->first = off + (apr_uint64_t)(h->blocks - base);
    no_room(h->header);
    *heap = h;
    return vault_lock_init(&h->header->lock);
}

/* -------------------------------------------------------------------- spans */

static int is_taken(const vault_heap_t *h, apr_uint32_t span)
{
    return (h->taken[span / 64] >> (span % 64)) & 1;
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

/* The first span that is free. `lowest` moves up as far as it can. */
static apr_uint32_t find_span(vault_heap_t *h)
{
    apr_uint32_t i = h->header->lowest;

    while (i < h->count && is_taken(h, i)) {
        i = i % 64 == 0 && h->taken[i / 64] == ~APR_UINT64_C(0) ? i + 64 : i + 1;
    }
    h->header->lowest = i < h->count ? i : h->count;
    return i < h->count ? i : NONE;
}

/* The last run of so many free spans. */
static apr_uint32_t find_run(const vault_heap_t *h, apr_uint32_t length)
{
    apr_uint32_t i = h->count, found = 0;

    while (i > h->header->lowest) {
        if (i % 64 == 0 && h->taken[i / 64 - 1] == ~APR_UINT64_C(0)) {
            i -= 64;
            found = 0;
            continue;
        }
        found = is_taken(h, --i) ? 0 : found + 1;
        if (found == length) {
            return i;
        }
    }
    return NONE;
}

/* How many spans the run covers whose head this is; 0: it is none. */
static apr_uint32_t run_length(const vault_heap_t *h, apr_uint32_t i)
{
    apr_uint32_t kind = h->spans[i].kind, length = kind & ~KIND_RUN;

    return kind & KIND_RUN && length <= RUN_MAX && length <= h->count - i ? length : 0;
}

static unsigned blocks_in_use(const span_t *span)
{
    unsigned word, used = 0;

    for (word = 0; word < SPAN_WORDS && span->kind >= 1 && span->kind <= CLASSES; word++) {
        used += (unsigned)__builtin_popcountll(span->map[word]);
    }
    return used;
}

static void store_kind(span_t *span, apr_uint32_t kind)
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

    h->spans[i].prev = NONE;
    h->spans[i].next = head;
    if (head != NONE) {
        h->spans[head].prev = i;
    }
    h->header->room[cls] = i;
}

static void unlink_room(vault_heap_t *h, apr_uint32_t i, unsigned cls)
{
    span_t *span = &h->spans[i];

    if (span->prev != NONE) {
        h->spans[span->prev].next = span->next;
    }
    else {
        h->header->room[cls] = span->next;
    }
    if (span->next != NONE) {
        h->spans[span->next].prev = span->prev;
    }
}

/* ------------------------------------------------------------------- repair */

/* What a span stands for, counted: link it if it has room. @return how many spans it covers */
static apr_uint32_t recount_span(vault_heap_t *h, apr_uint32_t i)
{
    span_t *span = &h->spans[i];
    apr_uint32_t length = run_length(h, i);

    if (length) {
        mark(h, i, length, 1);
        count_used(h, (apr_uint64_t)length * SPAN_SIZE);
        return length;
    }
    span->used = blocks_in_use(span);
    if (span->used == 0) {
        store_kind(span, 0);
        return 1;
    }
    mark(h, i, 1, 1);
    count_used(h, (apr_uint64_t)span->used * class_size[span->kind - 1]);
    if (span->used < CAPACITY(span->kind - 1)) {
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

/* Nobody waits for a block, so there is nobody to notify of a death here; that of its owner notifies all (slot.h). */
static void heap_acquire(vault_heap_t *h)
{
    if (vault_lock_acquire(&h->header->lock)) {
        repair_locked(h);
    }
}

/* ------------------------------------------------------------------- blocks */

/* @return NONE the heap is full */
static apr_uint32_t span_with_room_locked(vault_heap_t *h, unsigned cls)
{
    apr_uint32_t i = h->header->room[cls];

    if (i != NONE) {
        return i;
    }
    i = find_span(h);
    if (i != NONE) {
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
    span_t *span;
    unsigned word = 0, block;

    if (i == NONE) {
        return 0;
    }
    span = &h->spans[i];
    while (word < SPAN_WORDS - 1 && span->map[word] == ~APR_UINT64_C(0)) {
        word++;
    }
    block = word * 64 + (unsigned)__builtin_ctzll(~span->map[word]);
    span->used++;
    count_used(h, class_size[cls]);
    if (span->used == CAPACITY(cls)) {
        unlink_room(h, i, cls);
    }
    __atomic_store_n(&span->map[word], span->map[word] | APR_UINT64_C(1) << (block % 64), __ATOMIC_RELEASE);
    return h->first + (apr_uint64_t)i * SPAN_SIZE + (apr_uint64_t)block * class_size[cls];
}

static vault_off_t alloc_run_locked(vault_heap_t *h, apr_uint32_t length)
{
    apr_uint32_t i = find_run(h, length);

    if (i == NONE) {
        return 0;
    }
    mark(h, i, length, 1);
    count_used(h, (apr_uint64_t)length * SPAN_SIZE);
    store_kind(&h->spans[i], KIND_RUN | length);
    return h->first + (apr_uint64_t)i * SPAN_SIZE;
}

static unsigned class_of(apr_size_t size)
{
    unsigned cls = 0;

    while (cls < CLASSES && class_size[cls] < size) {
        cls++;
    }
    return cls;
}

static apr_uint32_t spans_of(apr_size_t size)
{
    return (apr_uint32_t)((size + SPAN_SIZE - 1) / SPAN_SIZE);
}

apr_size_t vault_heap_takes(apr_size_t size)
{
    unsigned cls = class_of(size);

    if (size == 0 || size > VAULT_HEAP_BLOCK_MAX) {
        return 0;
    }
    return cls < CLASSES ? class_size[cls] : (apr_size_t)spans_of(size) * SPAN_SIZE;
}

/* The kind of a span does not change while one of its blocks is in use. */
apr_size_t vault_heap_block_takes(const vault_heap_t *h, vault_off_t block)
{
    apr_uint32_t kind;

    if (!vault_heap_at(h, block)) {
        return 0;
    }
    kind = __atomic_load_n(&h->spans[(block - h->first) / SPAN_SIZE].kind, __ATOMIC_ACQUIRE);
    if (kind & KIND_RUN) {
        return (apr_size_t)(kind & ~KIND_RUN) * SPAN_SIZE;
    }
    return kind >= 1 && kind <= CLASSES ? class_size[kind - 1] : 0;
}

vault_off_t vault_heap_alloc(vault_heap_t *h, apr_size_t size)
{
    vault_off_t block;
    unsigned cls = class_of(size);

    if (size == 0 || size > VAULT_HEAP_BLOCK_MAX) {
        return 0;
    }
    heap_acquire(h);
    if (cls < CLASSES) {
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
    span_t *span = &h->spans[i];
    unsigned cls = span->kind - 1;
    unsigned block = inside / class_size[cls];
    apr_uint64_t *word = &span->map[block / 64];
    apr_uint64_t bit = APR_UINT64_C(1) << (block % 64);

    if (inside % class_size[cls] || block >= CAPACITY(cls) || !(*word & bit)) {
        return 0;
    }
    __atomic_store_n(word, *word & ~bit, __ATOMIC_RELEASE);
    count_used(h, (apr_uint64_t)0 - class_size[cls]);
    if (span->used-- == CAPACITY(cls)) {
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
    apr_uint32_t length = run_length(h, i);

    if (inside || length == 0) {
        return 0;
    }
    store_kind(&h->spans[i], 0);
    count_used(h, (apr_uint64_t)0 - (apr_uint64_t)length * SPAN_SIZE);
    mark(h, i, length, 0);
    return 1;
}

static int free_locked(vault_heap_t *h, apr_uint32_t span, apr_uint32_t inside)
{
    if (h->spans[span].kind & KIND_RUN) {
        return free_run_locked(h, span, inside);
    }
    return h->spans[span].kind >= 1 && h->spans[span].kind <= CLASSES && free_block_locked(h, span, inside);
}

int vault_heap_free(vault_heap_t *h, vault_off_t block)
{
    int freed;

    if (!vault_heap_at(h, block)) {
        return 0;
    }
    heap_acquire(h);
    freed =
        free_locked(h, (apr_uint32_t)((block - h->first) / SPAN_SIZE), (apr_uint32_t)((block - h->first) % SPAN_SIZE));
    vault_lock_release(&h->header->lock);
    return freed;
}

void *vault_heap_at(const vault_heap_t *h, vault_off_t block)
{
    if (block < h->first || block - h->first >= (apr_uint64_t)h->count * SPAN_SIZE || (block - h->first) % 16) {
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
    return (apr_uint64_t)h->count * SPAN_SIZE;
}

/* -------------------------------------------------------------------- check */

typedef struct census_t {
    apr_uint64_t bytes;
    apr_uint32_t with_room; /* spans that should be in a list */
    apr_uint32_t covered;   /* spans that the last one covers */
} census_t;

static const char *check_run_locked(vault_heap_t *h, apr_uint32_t i, census_t *census)
{
    apr_uint32_t length = run_length(h, i), rest;

    for (rest = 0; rest < length; rest++) {
        if (!is_taken(h, i + rest) || (rest && h->spans[i + rest].kind)) {
            return "a span in a run is not taken, or has a kind of its own";
        }
    }
    census->bytes += (apr_uint64_t)length * SPAN_SIZE;
    census->covered = length;
    return length ? NULL : "a run has a length that cannot be";
}

static const char *check_span_locked(vault_heap_t *h, apr_uint32_t i, census_t *census)
{
    span_t *span = &h->spans[i];
    unsigned used = blocks_in_use(span);

    census->covered = 1;
    if (!is_taken(h, i) != !span->kind) {
        return "a span is taken and has no kind, or the other way round";
    }
    if (span->kind & KIND_RUN) {
        return check_run_locked(h, i, census);
    }
    if (span->kind == 0) {
        return i < h->header->lowest ? "a free span lies below the lowest" : NULL;
    }
    if (span->kind > CLASSES || used == 0 || used != span->used || used > CAPACITY(span->kind - 1)) {
        return "a span has a kind that cannot be, or a count that is not that of its map";
    }
    census->bytes += (apr_uint64_t)used * class_size[span->kind - 1];
    census->with_room += used < CAPACITY(span->kind - 1);
    return NULL;
}

static const char *check_lists_locked(vault_heap_t *h, apr_uint32_t with_room)
{
    apr_uint32_t listed = 0;
    unsigned cls;

    for (cls = 0; cls < CLASSES; cls++) {
        apr_uint32_t i, prev = NONE;

        for (i = h->header->room[cls]; i != NONE; prev = i, i = h->spans[i].next) {
            if (i >= h->count || ++listed > with_room) {
                return "a list leads out of the heap, or has no end";
            }
            if (h->spans[i].kind != cls + 1 || h->spans[i].prev != prev || h->spans[i].used >= CAPACITY(cls)) {
                return "a list holds a span that does not belong to it";
            }
        }
    }
    return listed == with_room ? NULL : "a span with room is in no list";
}

const char *vault_heap_check(vault_heap_t *h)
{
    census_t census = {0, 0, 1};
    const char *wrong = NULL;
    apr_uint32_t i;

    heap_acquire(h);
    for (i = 0; i < h->count && !wrong; i += census.covered) {
        wrong = check_span_locked(h, i, &census);
    }
    if (!wrong) {
        wrong = check_lists_locked(h, census.with_room);
    }
    if (!wrong && census.bytes != h->header->used) {
        wrong = "the bytes in use are not those of the blocks";
    }
    vault_lock_release(&h->header->lock);
    return wrong;
}
