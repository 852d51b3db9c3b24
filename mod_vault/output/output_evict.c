/* SPDX-License-Identifier: Apache-2.0 */
/* How entries go: to make room, by the sweep, and on request. */
#include "output/output_table.h"

#include <string.h>

#define SWEEP_EVERY (APR_USEC_PER_SEC / 2)

/* ------------------------------------------------------------- to make room */

static int may_go(const output_record_t *rec, int disk)
{
    unsigned form;
    apr_uint64_t bytes = 0;

    for (form = 0; form < VAULT_OUTPUT_FORMS; form++) {
        bytes += rec->body[form].disk;
    }
    return output_state(rec) != OUTPUT_MAKING && (bytes || !disk);
}

/* The least recently used one of a list. */
static output_record_t *find_oldest(const vault_outputs_t *o, unsigned order, const output_record_t *except, int disk)
{
    output_record_t *rec = output_at(o, o->table->order[order].oldest);

    while (rec && (rec == except || !may_go(rec, disk))) {
        rec = output_at(o, rec->newer);
    }
    return rec;
}

int output_evict(vault_outputs_t *o, const output_record_t *except, int disk, output_after_t *after)
{
    const output_order_t *order = o->table->order;
    unsigned first = order[OUTPUT_UNUSED].length > order[OUTPUT_USED].length / 3 ? OUTPUT_UNUSED : OUTPUT_USED;
    output_record_t *rec = find_oldest(o, first, except, disk);

    if (!rec) {
        rec = find_oldest(o, first == OUTPUT_USED ? OUTPUT_UNUSED : OUTPUT_USED, except, disk);
    }
    if (!rec || after->count == OUTPUT_AFTER) {
        return 0;
    }
    output_free(o, rec, after);
    o->table->evicted++;
    return 1;
}

vault_off_t output_alloc(vault_outputs_t *o, const void *data, apr_size_t size, const output_record_t *except,
                         output_after_t *after)
{
    vault_off_t block;

    do {
        block = vault_heap_alloc(o->heap, size);
    } while (!block && vault_heap_takes(size) && vault_heap_takes(size) <= vault_heap_size(o->heap) &&
             output_evict(o, except, 0, after));
    if (block && data) {
        memcpy(vault_heap_at(o->heap, block), data, size);
    }
    return block;
}

static apr_status_t reserve_file(vault_outputs_t *o, output_record_t *rec, output_body_t *body, apr_size_t size,
                                 output_after_t *after)
{
    if (!o->limits.root || size > o->limits.files) {
        return APR_ENOSPC;
    }
    while (o->table->files > o->limits.files - size) {
        if (!output_evict(o, rec, 1, after)) {
            return APR_ENOMEM;
        }
    }
    o->table->files += size;
    output_store(&body->disk, size);
    return APR_SUCCESS;
}

apr_status_t output_reserve(vault_outputs_t *o, output_record_t *rec, vault_output_form_t form, apr_size_t size,
                            output_after_t *after)
{
    output_body_t *body = &rec->body[form];
    apr_status_t rv = APR_SUCCESS;

    if (size > o->limits.memory_max) {
        rv = reserve_file(o, rec, body, size, after);
    }
    else if (size) {
        vault_off_t block = output_alloc(o, NULL, size, rec, after);

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

static int has_idled(const output_record_t *rec, apr_time_t now, apr_interval_time_t idle)
{
    return idle > 0 && rec->used + idle <= now;
}

/* An outdated entry stays for a while: VaultCacheStale may allow its use, and the entry that replaces it notes which
 * interest outdated it. */
static int has_gone_stale(const vault_outputs_t *o, output_record_t *rec, apr_time_t now)
{
    if (!output_is_stale(o, rec, now)) {
        rec->current_at = now;
        return 0;
    }
    rec->stale_since = rec->stale_since ? rec->stale_since : now;
    return rec->stale_since + VAULT_OUTPUT_STALE_FOR <= now && rec->stale_since + rec->stale_for <= now;
}

static int has_ended(const vault_outputs_t *o, output_record_t *rec, apr_time_t now, apr_interval_time_t idle)
{
    switch (output_state(rec)) {
    case OUTPUT_MAKING:
        return vault_lease_is_void(o->notifier, rec->lease);
    case OUTPUT_KEPT:
        return rec->epoch != (apr_uint32_t)output_load(&o->table->epoch) || has_idled(rec, now, idle) ||
               has_gone_stale(o, rec, now);
    case OUTPUT_PERSONAL:
        return rec->until <= now;
    default:
        return 0;
    }
}

static void sweep_locked(vault_outputs_t *o, output_record_t *rec, apr_time_t now, apr_interval_time_t idle,
                         output_after_t *after)
{
    if (has_ended(o, rec, now, idle)) {
        output_free(o, rec, after);
    }
    else if (output_state(rec) == OUTPUT_KEPT) {
        output_end_void_claims(o, rec, after);
    }
}

/* Pages need interests more than outputs do. */
static void give_interests_back(vault_outputs_t *o)
{
    output_after_t after = {0};

    if (output_is_crowded(o)) {
        output_lock(o);
        while (output_evict(o, NULL, 0, &after)) {
        }
        output_unlock(o, &after);
    }
}

/* After a process was killed, there may be files that no entry has. */
static void clean_after_deaths(vault_outputs_t *o)
{
    apr_uint32_t cleaned = output_load(&o->table->deaths), deaths = vault_slot_deaths(o->notifier);

    if (cleaned != deaths &&
        __atomic_compare_exchange_n(&o->table->deaths, &cleaned, deaths, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
        output_files_clean(o);
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
    while (i <= output_load(&o->table->fresh)) {
        output_after_t after = {0};

        output_lock(o);
        for (end = i + OUTPUT_STEP; i < end && i <= o->table->fresh && after.count < OUTPUT_AFTER; i++) {
            sweep_locked(o, &o->records[i], now, idle, &after);
        }
        output_unlock(o, &after);
    }
    give_interests_back(o);
    clean_after_deaths(o);
}

/* --------------------------------------------------------------- on request */

static unsigned drop_locked(vault_outputs_t *o, output_record_t *rec, const vault_output_filter_t *filter,
                            output_after_t *after)
{
    if (!output_fits(o, rec, filter)) {
        return 0;
    }
    if (output_state(rec) == OUTPUT_MAKING) {
        rec->dropped = 1;
        return 0;
    }
    output_free(o, rec, after);
    return 1;
}

unsigned vault_outputs_drop(vault_outputs_t *o, const vault_output_filter_t *filter)
{
    apr_uint32_t i = 1, end;
    unsigned dropped = 0;

    while (i <= output_load(&o->table->fresh)) {
        output_after_t after = {0};

        output_lock(o);
        for (end = i + OUTPUT_STEP; i < end && i <= o->table->fresh && after.count < OUTPUT_AFTER; i++) {
            dropped += drop_locked(o, &o->records[i], filter, &after);
        }
        output_unlock(o, &after);
    }
    return dropped;
}
