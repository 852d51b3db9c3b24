/* SPDX-License-Identifier: Apache-2.0 */
/* Removal of entries: eviction to make room, the periodic sweep, and drops on request. */
#include "output/output_table.h"

#include <string.h>

#define SWEEP_EVERY (APR_USEC_PER_SEC / 2)

/* ------------------------------------------------------------- to make room */

static int is_evictable(const output_record_t *rec, int disk)
{
    unsigned form;
    apr_uint64_t bytes = 0;

    for (form = 0; form < VAULT_OUTPUT_FORMS; form++) {
        bytes += rec->body[form].disk;
    }
    return output_state(rec) != OUTPUT_MAKING && (bytes || !disk);
}

/* The least recently used one of a list. */
static output_record_t *find_oldest(const vault_outputs_t *o, unsigned lru, const output_record_t *except, int disk)
{
    output_record_t *rec = output_at(o, o->table->lru[lru].oldest);

    while (rec && (rec == except || !is_evictable(rec, disk))) {
        rec = output_at(o, rec->newer);
    }
    return rec;
}

int output_evict(vault_outputs_t *o, const output_record_t *except, int disk, output_deferred_t *deferred)
{
    const output_lru_t *lru = o->table->lru;
    unsigned first =
        lru[OUTPUT_PROBATION].length > lru[OUTPUT_PROTECTED].length / 3 ? OUTPUT_PROBATION : OUTPUT_PROTECTED;
    output_record_t *rec = find_oldest(o, first, except, disk);

    if (!rec) {
        rec = find_oldest(o, first == OUTPUT_PROTECTED ? OUTPUT_PROBATION : OUTPUT_PROTECTED, except, disk);
    }
    if (!rec || deferred->count == OUTPUT_DEFERRED_MAX) {
        return 0;
    }
    output_free(o, rec, deferred);
    o->table->evicted++;
    return 1;
}

vault_off_t output_alloc(vault_outputs_t *o, const void *data, apr_size_t size, const output_record_t *except,
                         output_deferred_t *deferred)
{
    vault_off_t block;

    do {
        block = vault_heap_alloc(o->heap, size);
    } while (!block && vault_heap_takes(size) && vault_heap_takes(size) <= vault_heap_size(o->heap) &&
             output_evict(o, except, 0, deferred));
    if (block && data) {
        memcpy(vault_heap_at(o->heap, block), data, size);
    }
    return block;
}

static apr_status_t reserve_file(vault_outputs_t *o, output_record_t *rec, output_body_t *body, apr_size_t size,
                                 output_deferred_t *deferred)
{
    if (!o->limits.root || size > o->limits.files) {
        return APR_ENOSPC;
    }
    while (o->table->files > o->limits.files - size) {
        if (!output_evict(o, rec, 1, deferred)) {
            return APR_ENOMEM;
        }
    }
    o->table->files += size;
    output_store(&body->disk, size);
    return APR_SUCCESS;
}

apr_status_t output_reserve(vault_outputs_t *o, output_record_t *rec, vault_output_form_t form, apr_size_t size,
                            output_deferred_t *deferred)
{
    output_body_t *body = &rec->body[form];
    apr_status_t rv = APR_SUCCESS;

    if (size > o->limits.memory_max) {
        rv = reserve_file(o, rec, body, size, deferred);
    }
    else if (size) {
        vault_off_t block = output_alloc(o, NULL, size, rec, deferred);

        output_store(&body->block, block);
        rv = block ? APR_SUCCESS : APR_ENOMEM;
    }
    if (rv == APR_SUCCESS) {
        body->size = size;
        output_store(&body->state, OUTPUT_RESERVED);
    }
    return rv;
}

/* -------------------------------------------------------------------- sweep */

static int is_idle(const output_record_t *rec, apr_time_t now, apr_interval_time_t idle)
{
    return idle > 0 && rec->used + idle <= now;
}

/* An outdated entry stays for a while: VaultCacheStale may allow its use, and the entry that replaces it notes which
 * interest invalidated it. */
static int is_stale_too_long(const vault_outputs_t *o, output_record_t *rec, apr_time_t now)
{
    if (!output_is_stale(o, rec, now)) {
        rec->current_at = now;
        return 0;
    }
    rec->stale_since = rec->stale_since ? rec->stale_since : now;
    return rec->stale_since + VAULT_OUTPUT_STALE_FOR <= now && rec->stale_since + rec->stale_for <= now;
}

static int is_expired(const vault_outputs_t *o, output_record_t *rec, apr_time_t now, apr_interval_time_t idle)
{
    switch (output_state(rec)) {
    case OUTPUT_MAKING:
        return vault_lease_is_expired(o->notifier, rec->lease);
    case OUTPUT_KEPT:
        return rec->epoch != (apr_uint32_t)output_load(&o->table->epoch) || is_idle(rec, now, idle) ||
               is_stale_too_long(o, rec, now);
    case OUTPUT_PERSONAL:
        return rec->until <= now;
    default:
        return 0;
    }
}

static void sweep_locked(vault_outputs_t *o, output_record_t *rec, apr_time_t now, apr_interval_time_t idle,
                         output_deferred_t *deferred)
{
    if (is_expired(o, rec, now, idle)) {
        output_free(o, rec, deferred);
    }
    else if (output_state(rec) == OUTPUT_KEPT) {
        output_drop_expired_claims(o, rec, deferred);
    }
}

/* Makes interests available to pages, which need them more than outputs do. */
static void evict_for_interests(vault_outputs_t *o)
{
    output_deferred_t deferred = {0};

    if (output_is_low_on_interests(o)) {
        output_lock(o);
        while (output_evict(o, NULL, 0, &deferred)) {
        }
        output_unlock(o, &deferred);
    }
}

/* A killed process may leave files that belong to no entry. */
static void remove_orphaned_files(vault_outputs_t *o)
{
    apr_uint32_t cleaned = output_load(&o->table->deaths), deaths = vault_slot_deaths(o->notifier);

    if (cleaned != deaths &&
        __atomic_compare_exchange_n(&o->table->deaths, &cleaned, deaths, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
        output_files_remove_orphans(o);
    }
}

static int claim_sweep(vault_outputs_t *o, apr_time_t now)
{
    apr_uint64_t swept = output_load(&o->table->swept);

    return (apr_time_t)swept + SWEEP_EVERY <= now &&
           __atomic_compare_exchange_n(&o->table->swept, &swept, (apr_uint64_t)now, 0, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

void vault_outputs_sweep(vault_outputs_t *o, apr_time_t now, apr_interval_time_t idle)
{
    apr_uint32_t i = 1, end;

    if (!claim_sweep(o, now)) {
        return;
    }
    while (i <= output_load(&o->table->high_water)) {
        output_deferred_t deferred = {0};

        output_lock(o);
        for (end = i + OUTPUT_STEP; i < end && i <= o->table->high_water && deferred.count < OUTPUT_DEFERRED_MAX; i++) {
            sweep_locked(o, &o->records[i], now, idle, &deferred);
        }
        output_unlock(o, &deferred);
    }
    evict_for_interests(o);
    remove_orphaned_files(o);
}

/* --------------------------------------------------------------- on request */

static unsigned drop_locked(vault_outputs_t *o, output_record_t *rec, const vault_output_filter_t *filter,
                            output_deferred_t *deferred)
{
    if (!output_matches(o, rec, filter)) {
        return 0;
    }
    if (output_state(rec) == OUTPUT_MAKING) {
        rec->dropped = 1;
        return 0;
    }
    output_free(o, rec, deferred);
    return 1;
}

unsigned vault_outputs_drop(vault_outputs_t *o, const vault_output_filter_t *filter)
{
    apr_uint32_t i = 1, end;
    unsigned dropped = 0;

    while (i <= output_load(&o->table->high_water)) {
        output_deferred_t deferred = {0};

        output_lock(o);
        for (end = i + OUTPUT_STEP; i < end && i <= o->table->high_water && deferred.count < OUTPUT_DEFERRED_MAX; i++) {
            dropped += drop_locked(o, &o->records[i], filter, &deferred);
        }
        output_unlock(o, &deferred);
    }
    return dropped;
}
