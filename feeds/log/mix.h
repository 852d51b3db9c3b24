/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mix.h
 * Numbers that stand for texts and other numbers. Two that are not the same have other numbers, as good as always.
 */
#ifndef LOG_MIX_H
#define LOG_MIX_H

#include <stdint.h>

static inline uint64_t log_mix(uint64_t sum, uint64_t value)
{
    sum = (sum ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ sum >> 29;
}

/** With its NUL, so that texts one after the other stay apart. */
static inline uint64_t log_mix_text(uint64_t sum, const char *text)
{
    do {
        sum = log_mix(sum, (unsigned char)*text);
    } while (*text++ != '\0');
    return sum;
}

#endif
