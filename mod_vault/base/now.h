/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file now.h
 * The monotonic clock, for deadlines, ages and rates. It is not affected when the system time is changed.
 *
 * Use wall-clock time (apr_time_now) only for what people or files see: log lines, file times, rows of a
 * database.
 */
#ifndef VAULT_NOW_H
#define VAULT_NOW_H

#include <time.h>

#include "apr_time.h"

/** Microseconds since an unspecified moment before the boot of the machine; the same in all its processes. Never
 * 0. Any thread. */
static inline apr_time_t vault_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return apr_time_from_sec(t.tv_sec) + t.tv_nsec / 1000 + 1;
}

#endif
