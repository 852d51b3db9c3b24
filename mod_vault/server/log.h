/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file log.h
 * Tags of the module's log lines: `VLT00012: …`. A tag is unique, is never used again, and is listed in
 * docs/log-messages.md, which a test of make check compares.
 */
#ifndef VAULT_LOG_H
#define VAULT_LOG_H

#include "apr_time.h"
#include "http_log.h"

#define VLTNO(n) "VLT" #n ": "

/** The level of a line that many requests can cause: `level` at most once a second, otherwise debug. `said`
 * belongs to the caller and is zero at first. Call this before the log macro, not in its arguments, since the
 * macros of http_log.h evaluate them more than once. */
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
