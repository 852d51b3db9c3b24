/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pause.h"

#include "base/now.h"

#define LOGGED_EVERY apr_time_from_sec(60)

int vault_pause_is_over(const vault_pause_t *pause)
{
    return vault_now() >= __atomic_load_n(&pause->until, __ATOMIC_RELAXED);
}

int vault_pause_begin(vault_pause_t *pause, apr_interval_time_t length)
{
    apr_time_t now = vault_now(), logged = __atomic_load_n(&pause->logged, __ATOMIC_RELAXED);

    __atomic_store_n(&pause->until, now + length, __ATOMIC_RELAXED);
    return (!logged || now - logged >= LOGGED_EVERY) &&
           __atomic_compare_exchange_n(&pause->logged, &logged, now, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
