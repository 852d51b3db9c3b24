/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file clock.h
 * The counter that all stamps come from, and the floor below all stamps. Internal to the notifier.
 *
 * Each number comes from one sequentially consistent read-modify-write operation. So on any machine the order
 * of numbers is the order of the events that they stamp, and no number is used twice in a boot. Both words are
 * in the segment, each on a cache line of its own: every notify writes the counter, and every comparison reads
 * the floor.
 */
#ifndef VAULT_CLOCK_H
#define VAULT_CLOCK_H

#include "shm/segment.h"

typedef struct vault_clock_t {
    _Alignas(64) apr_uint64_t now;   /* atomic; the last number taken */
    _Alignas(64) apr_uint64_t floor; /* atomic; no effective stamp is less */
} vault_clock_t;

vault_clock_t *vault_segment_clock(const vault_segment_t *segment);

/** Take the next number, which no other process gets. */
static inline apr_uint64_t vault_clock_tick(vault_clock_t *clock)
{
    return __atomic_add_fetch(&clock->now, 1, __ATOMIC_SEQ_CST);
}

static inline apr_uint64_t vault_clock_floor(const vault_clock_t *clock)
{
    return __atomic_load_n(&clock->floor, __ATOMIC_SEQ_CST);
}

/** Raise the floor above every number taken so far. If two processes do this at once, the higher value stays. */
static inline void vault_clock_raise(vault_clock_t *clock)
{
    apr_uint64_t number = vault_clock_tick(clock);
    apr_uint64_t floor = vault_clock_floor(clock);

    while (floor < number &&
           !__atomic_compare_exchange_n(&clock->floor, &floor, number, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
}

#endif
