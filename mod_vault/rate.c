/* SPDX-License-Identifier: Apache-2.0 */
/* A leaky bucket in one word: the time until which what was admitted keeps the client busy, each for its share of a second. */
#include "rate.h"

#include "apr_errno.h"

#define PLACES 4096

struct vault_rates_t {
    apr_uint64_t busy_until[PLACES]; /* atomic; microseconds */
};

apr_uint64_t vault_rates_space(void)
{
    return sizeof(vault_rates_t) + 64;
}

apr_status_t vault_rates_create(vault_rates_t **rates, vault_segment_t *segment)
{
    *rates = vault_segment_at(segment, vault_segment_carve(segment, sizeof(**rates)), sizeof(**rates));
    return *rates ? APR_SUCCESS : APR_ENOSPC;
}

int vault_rates_admit(vault_rates_t *rates, apr_uint32_t client, unsigned per_second, apr_time_t now)
{
    apr_uint64_t *place = &rates->busy_until[client % PLACES], time = (apr_uint64_t)now;
    apr_uint64_t share = APR_USEC_PER_SEC / per_second, busy = __atomic_load_n(place, __ATOMIC_RELAXED), from;

    do {
        /* Busy for more than can be: the clock was set back. */
        from = busy < time || busy - time > APR_USEC_PER_SEC ? time : busy;
        if (from + share > time + APR_USEC_PER_SEC) {
            return 0;
        }
    } while (!__atomic_compare_exchange_n(place, &busy, from + share, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return 1;
}
