/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file dice.h
 * Numbers from a seed, the same on every machine: splitmix64.
 */
#ifndef VAULT_BENCH_DICE_H
#define VAULT_BENCH_DICE_H

#include <stdint.h>

/** One sequence of numbers: set it to the seed. */
typedef uint64_t dice_t;

static inline uint64_t dice_roll(dice_t *dice)
{
    uint64_t z = (*dice += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/** 0 <= x < limit; limit > 0 */
static inline int dice_below(dice_t *dice, int limit)
{
    return (int)(dice_roll(dice) % (unsigned)limit);
}

/** 0 < x <= 1 */
static inline double dice_part(dice_t *dice)
{
    return (double)((dice_roll(dice) >> 11) + 1) / 9007199254740992.0;
}

#endif
