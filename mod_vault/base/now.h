/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file now.h
 * The time for deadlines, ages and rates: it goes on evenly when somebody sets the clock, or when a clock that was wrong is put right.
 *
 * Wall-clock time (apr_time_now) is for what people or files say: log lines, times of files, rows of a database.
 */
#ifndef VAULT_NOW_H
#define VAULT_NOW_H

#include <time.h>

#include "apr_time.h"

/** Microseconds since some point in the past, the same for all processes of the machine until it is booted again. Never 0. Any thread. */
static inline apr_time_t vault_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return apr_time_from_sec(t.tv_sec) + t.tv_nsec / 1000 + 1;
}

#endif
