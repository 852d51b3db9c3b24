/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file log.h
 * Tags of our log lines: `VLT00012: …`. Unique, never used again, listed in docs/log-messages.md (make check compares).
 */
#ifndef VAULT_LOG_H
#define VAULT_LOG_H

#include "apr_time.h"
#include "http_log.h"

#define VLTNO(n) "VLT" #n ": "

/** The level for a line that many requests may cause: `level` once a second, else debug. `said` is the caller's, zero at first.
 * To be asked before the line, not in it: the macros of http_log.h look at their argument more than once. */
static inline int vault_log_seldom(apr_time_t *said, apr_time_t now, int level)
{
    apr_time_t last = __atomic_load_n(said, __ATOMIC_RELAXED);

    if (now - last < APR_USEC_PER_SEC ||
        !__atomic_compare_exchange_n(said, &last, now, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        return APLOG_DEBUG;
    }
    return level;
}

#endif
