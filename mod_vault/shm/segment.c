/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file segment.c
 * The memory that all children share: one anonymous mapping, which is allocated from the front and never freed.
 *
 * The handle is plain data: it is kept over graceful restarts, while this code is unloaded and loaded again. The only
 * cleanup of its pool is APR's own. The system provides zeroed memory, and this file does not write to it, so it takes
 * no RAM until it is used.
 */
#include "shm/segment.h"

#include "apr_general.h"
#include "apr_shm.h"

#include "shm/clock.h"

#define SEGMENT_MAGIC APR_UINT64_C(0x31544c5541560a1a)
#define SEGMENT_LAYOUT 6
#define SEGMENT_ALIGN 64

typedef struct segment_header_t {
    apr_uint64_t magic;  /* const after create */
    apr_uint32_t layout; /* const after create */
    apr_uint32_t bytes;  /* const after create: of this header */
    apr_uint64_t size;   /* const after create */
    apr_uint64_t boot;   /* const after create */
    vault_clock_t clock;
} segment_header_t;

_Static_assert(sizeof(vault_clock_t) == 128, "the clock and the floor have a cache line each");
_Static_assert(sizeof(segment_header_t) == 192, "the header is part of the layout: raise SEGMENT_LAYOUT with it");

struct vault_segment_t {
    segment_header_t *header; /* const after create; the beginning of the segment */
    apr_uint64_t size;        /* const after create */
    apr_uint64_t carved;      /* parent, before any fork */
    vault_limits_t limits;    /* const after create */
};

static apr_status_t random_boot(apr_uint64_t *boot)
{
    apr_status_t rv;

    do {
        rv = apr_generate_random_bytes((unsigned char *)boot, sizeof(*boot));
    } while (rv == APR_SUCCESS && *boot == 0);
    return rv;
}

static void header_init(segment_header_t *header, apr_uint64_t size, apr_uint64_t boot)
{
    header->layout = SEGMENT_LAYOUT;
    header->bytes = sizeof(*header);
    header->size = size;
    header->boot = boot;
    header->clock.now = 1;
    header->clock.floor = 0;
    header->magic = SEGMENT_MAGIC;
}

apr_status_t vault_segment_create(vault_segment_t **segment, const vault_limits_t *limits, apr_pool_t *pool)
{
    vault_segment_t *s;
    apr_shm_t *shm;
    apr_uint64_t boot;
    apr_uintptr_t base;
    apr_status_t rv;

    *segment = NULL;
    if (limits->size < sizeof(segment_header_t)) {
        return APR_EINVAL;
    }
    if (limits->size > (apr_uint64_t)APR_SIZE_MAX / 4 || limits->others > (apr_uint64_t)APR_SIZE_MAX / 4) {
        return APR_ENOMEM;
    }
    rv = random_boot(&boot);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    /* APR puts a header of its own in front, so the memory that it returns is not aligned. */
    rv = apr_shm_create(&shm, (apr_size_t)(limits->size + limits->others) + SEGMENT_ALIGN, NULL, pool);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    base = ((apr_uintptr_t)apr_shm_baseaddr_get(shm) + SEGMENT_ALIGN - 1) & ~(apr_uintptr_t)(SEGMENT_ALIGN - 1);
    s = apr_pcalloc(pool, sizeof(*s));
    s->header = (segment_header_t *)base;
    s->size = limits->size + limits->others;
    s->carved = sizeof(segment_header_t);
    s->limits = *limits;
    header_init(s->header, s->size, boot);
    *segment = s;
    return APR_SUCCESS;
}

apr_uint64_t vault_segment_left(const vault_segment_t *segment)
{
    return segment->size - segment->carved;
}

vault_off_t vault_segment_carve(vault_segment_t *segment, apr_uint64_t size)
{
    vault_off_t off = segment->carved;
    apr_uint64_t left = vault_segment_left(segment);

    if (size == 0 || size > left) {
        return 0;
    }
    size = (size + SEGMENT_ALIGN - 1) & ~(apr_uint64_t)(SEGMENT_ALIGN - 1);
    segment->carved += size < left ? size : left;
    return off;
}

void *vault_segment_at(const vault_segment_t *segment, vault_off_t off, apr_uint64_t size)
{
    if (off == 0 || off > segment->size || size > segment->size - off) {
        return NULL;
    }
    return (char *)segment->header + off;
}

const vault_limits_t *vault_segment_limits(const vault_segment_t *segment)
{
    return &segment->limits;
}

apr_uint64_t vault_segment_boot(const vault_segment_t *segment)
{
    return segment->header->boot;
}

vault_clock_t *vault_segment_clock(const vault_segment_t *segment)
{
    return &segment->header->clock;
}
