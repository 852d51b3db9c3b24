/* SPDX-License-Identifier: Apache-2.0 */
/* Consistent hashing. The seeds are constants, because all servers must choose alike. */
#include "gateway/hash_ring.h"

#include <stdlib.h>

#include "base/hash.h"

#define SEED_POINTS APR_UINT64_C(0x7661756c74706f69)
#define SEED_NAMES APR_UINT64_C(0x7661756c746e616d)

typedef struct point_t {
    apr_uint64_t place;
    unsigned owner;
} point_t;

struct vault_hash_ring_t {
    point_t *points; /* by place */
    unsigned count;
    apr_uint64_t version;
};

static int by_place(const void *a, const void *b)
{
    const point_t *p = a, *q = b;

    return p->place < q->place ? -1 : p->place > q->place;
}

vault_hash_ring_t *vault_hash_ring_make(const char *const *names, unsigned count, apr_pool_t *pool)
{
    vault_hash_ring_t *ring = apr_pcalloc(pool, sizeof(*ring));
    unsigned i, k;

    ring->points = apr_palloc(pool, (apr_size_t)count * VAULT_RING_POINTS * sizeof(point_t));
    for (i = 0; i < count; i++) {
        apr_uint64_t place = vault_hash_text(SEED_POINTS, names[i]);
        ring->version += vault_hash_text(SEED_NAMES, names[i]);
        for (k = 0; k < VAULT_RING_POINTS; k++) {
            place = vault_hash(place, &k, sizeof(k));
            ring->points[ring->count++] = (point_t){place, i};
        }
    }
    qsort(ring->points, ring->count, sizeof(point_t), by_place);
    return ring;
}

unsigned vault_hash_ring_owner(const vault_hash_ring_t *ring, const char *interest)
{
    apr_uint64_t place = vault_hash_text(SEED_POINTS, interest);
    unsigned low = 0, high = ring->count;

    while (low < high) { /* the first point that is not before the place */
        unsigned middle = low + (high - low) / 2;
        if (ring->points[middle].place < place) {
            low = middle + 1;
        }
        else {
            high = middle;
        }
    }
    return ring->points[low == ring->count ? 0 : low].owner;
}

apr_uint64_t vault_hash_ring_version(const vault_hash_ring_t *ring)
{
    return ring->version;
}
