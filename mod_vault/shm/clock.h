/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file clock.h
 * The one counter that every stamp comes from, and the floor under all stamps. Internal: for the notifier.
 *
 * Every number comes from one sequentially consistent read-modify-write, so numbers keep the order of what they announce on any
 * machine, and none is used twice in a boot. Both words live in the segment, each on a cache line of its own: the counter is
 * written at every notify, the floor is read at every look.
 */
#ifndef VAULT_CLOCK_H
#define VAULT_CLOCK_H

#include "shm/segment.h"

typedef struct vault_clock_t {
    _Alignas(64) apr_uint64_t now;   /* atomic; the last number taken */
    _Alignas(64) apr_uint64_t floor; /* atomic; no effective stamp is less */
} vault_clock_t;

vault_clock_t *vault_segment_clock(const vault_segment_t *segment);

/** Take a number that nobody had. */
static inline apr_uint64_t vault_clock_tick(vault_clock_t *clock)
{
    return __atomic_add_fetch(&clock->now, 1, __ATOMIC_SEQ_CST);
}

static inline apr_uint64_t vault_clock_floor(const vault_clock_t *clock)
{
    return __atomic_load_n(&clock->floor, __ATOMIC_SEQ_CST);
}

/** Lift the floor above every number taken so far. Two at once: the higher stays. */
static inline void vault_clock_raise(vault_clock_t *clock)
{
    apr_uint64_t number = vault_clock_tick(clock);
    apr_uint64_t floor = vault_clock_floor(clock);

    while (floor < number &&
           !__atomic_compare_exchange_n(&clock->floor, &floor, number, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
}

#endif
