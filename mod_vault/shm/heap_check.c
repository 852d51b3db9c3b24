/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the consistency of the heap: compares what is derived (counts, lists, the bitmap of spans in use) with the
 * kinds and bitmaps of the spans. */
#include "shm/heap_spans.h"

typedef struct check_t {
    apr_uint64_t bytes;
    apr_uint32_t with_room; /* spans that should be in a list */
    apr_uint32_t covered;   /* spans that the last one covers */
} check_t;

static const char *check_run_locked(vault_heap_t *h, apr_uint32_t i, check_t *census)
{
    apr_uint32_t length = vault_span_run_length(h, i), rest;

    for (rest = 0; rest < length; rest++) {
        if (!vault_span_is_taken(h, i + rest) || (rest && h->spans[i + rest].kind)) {
            return "a span in a run is not taken, or has a kind of its own";
        }
    }
    census->bytes += (apr_uint64_t)length * VAULT_HEAP_SPAN_SIZE;
    census->covered = length;
    return length ? NULL : "a run has an impossible length";
}

static const char *check_span_locked(vault_heap_t *h, apr_uint32_t i, check_t *census)
{
    vault_span_t *span = &h->spans[i];
    unsigned used = vault_span_blocks_in_use(span);

    census->covered = 1;
    if (!vault_span_is_taken(h, i) != !span->kind) {
        return "a span is taken and has no kind, or the other way round";
    }
    if (span->kind & VAULT_HEAP_KIND_RUN) {
        return check_run_locked(h, i, census);
    }
    if (span->kind == 0) {
        return i < h->header->lowest ? "a free span lies below the lowest" : NULL;
    }
    if (span->kind > VAULT_HEAP_CLASSES || used == 0 || used != span->used ||
        used > VAULT_HEAP_CAPACITY(span->kind - 1)) {
        return "a span has an impossible kind, or its count does not fit its map";
    }
    census->bytes += (apr_uint64_t)used * vault_heap_class_size[span->kind - 1];
    census->with_room += used < VAULT_HEAP_CAPACITY(span->kind - 1);
    return NULL;
}

static const char *check_lists_locked(vault_heap_t *h, apr_uint32_t with_room)
{
    apr_uint32_t listed = 0;
    unsigned cls;

    for (cls = 0; cls < VAULT_HEAP_CLASSES; cls++) {
        apr_uint32_t i, prev = VAULT_HEAP_NONE;

        for (i = h->header->room[cls]; i != VAULT_HEAP_NONE; prev = i, i = h->spans[i].next) {
            if (i >= h->count || ++listed > with_room) {
                return "a list leads out of the heap, or has no end";
            }
            if (h->spans[i].kind != cls + 1 || h->spans[i].prev != prev ||
                h->spans[i].used >= VAULT_HEAP_CAPACITY(cls)) {
                return "a list holds a span that does not belong to it";
            }
        }
    }
    return listed == with_room ? NULL : "a span with room is in no list";
}

const char *vault_heap_check(vault_heap_t *h)
{
    check_t census = {0, 0, 1};
    const char *wrong = NULL;
    apr_uint32_t i;

    vault_heap_acquire(h);
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
