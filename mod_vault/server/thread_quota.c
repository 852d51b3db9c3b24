/* SPDX-License-Identifier: Apache-2.0 */
/* Counts in the slots of the children: each child changes its own count only, and reads those of all. */
#include "server/thread_quota.h"

#include "ap_mpm.h"

#include "server/server.h"
#include "server/settings.h"

int vault_thread_quota_is_shared(void)
{
    int threads = 1;

    ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads);
    return threads <= 1;
}

static apr_uint64_t held_by(const vault_counters_t *counters)
{
    return __atomic_load_n(&counters->threads_held, __ATOMIC_SEQ_CST);
}

static apr_uint64_t held(void)
{
    apr_uint64_t sum = 0;
    unsigned slot;

    if (!vault_thread_quota_is_shared()) {
        return held_by(vault_server->counters);
    }
    for (slot = 1; slot <= vault_slot_last(vault_server->notifier); slot++) {
        if (vault_slot_pid(vault_server->notifier, slot)) {
            sum += held_by(vault_slot_counters(vault_server->notifier, slot));
        }
    }
    return sum;
}

static void add(int by)
{
    __atomic_fetch_add(&vault_server->counters->threads_held, (apr_uint64_t)by, __ATOMIC_SEQ_CST);
}

/* The thread adds itself before it reads the sum. So of two threads that compete for the last permit, never both get
 * it; in a tie the function may refuse both. */
int vault_thread_quota_take(void)
{
    add(1);
    if (held() <= (apr_uint64_t)vault_settings()->threads) {
        return 1;
    }
    add(-1);
    return 0;
}

void vault_thread_quota_release(void)
{
    add(-1);
}

int vault_thread_quota_is_used_up(void)
{
    return held() >= (apr_uint64_t)vault_settings()->threads;
}
