/* SPDX-License-Identifier: Apache-2.0 */
/* What the pages hold and have, counted: for the check, and for what a killed process leaves: interests and blocks of the heap.
 *
 * A process can be killed between its holding an interest and its noting that in the page, or the other way round when it lets go.
 * No order of two stores in two places spares that; but whatever the order, an interest can only come to have too many holders, never
 * too few. So they are counted after a death, by whoever sweeps. All holding and letting go is done under the record's lock, under
 * which it is counted here, so notifier.h says how the count is exact while others go on.
 */
#include "page/page_record.h"

void vault_page_count_holds(vault_pages_t *p, apr_uint32_t *counted, vault_interest_t last)
{
    apr_uint32_t i, k, records = vault_pages_last(p);

    for (i = 1; i <= records; i++) {
        vault_page_record_t *rec = &p->records[i];
        const vault_holds_t *h;

        vault_page_record_lock(p, rec);
        h = vault_page_record_holds(p, rec);
        for (k = 0; h && k < h->count; k++) {
            counted[h->interest[k] <= last ? h->interest[k] : 0]++;
        }
        counted[rec->own <= last ? rec->own : 0]++;
        vault_lock_release(&rec->lock);
    }
}

/* A block is in use outside of a record only while that record's lock is held: so whatever was in use when the doubt began is in a record
 * when its turn comes, or has been freed, or is lost. */
static void reap_blocks(vault_pages_t *p)
{
    apr_uint32_t i, k, records;

    vault_heap_doubt(p->heap);
    records = vault_pages_last(p);
    for (i = 1; i <= records; i++) {
        vault_page_record_t *rec = &p->records[i];

        vault_page_record_lock(p, rec);
        vault_heap_keep(p->heap, rec->base);
        for (k = 0; k < VAULT_PAGE_STAGED; k++) {
            vault_heap_keep(p->heap, rec->staged[k]);
        }
        vault_heap_keep(p->heap, rec->calls);
        vault_heap_keep(p->heap, rec->owner);
        vault_heap_keep(p->heap, rec->holds);
        vault_lock_release(&rec->lock);
    }
    vault_heap_reap(p->heap);
}

/* @return whether all are settled */
static int recount_holders(vault_pages_t *p, apr_pool_t *pool)
{
    vault_interest_t i, last = vault_interest_last(p->notifier);
    apr_size_t size = ((apr_size_t)last + 1) * sizeof(apr_uint32_t);
    apr_uint32_t *counted = apr_pcalloc(pool, size), *changes = apr_palloc(pool, size);
    int settled = 1;

    for (i = 1; i <= last; i++) {
        changes[i] = vault_interest_changes(p->notifier, i);
    }
    vault_page_count_holds(p, counted, last);
    for (i = 1; i <= last; i++) {
        settled &= vault_interest_recount(p->notifier, i, counted[i], changes[i]);
    }
    return settled;
}

static int is_due(const vault_pages_t *p)
{
    return vault_load(&p->table->recounted) != vault_slot_deaths(p->notifier);
}

/* One at a time. Who was killed at it has settled nothing, so the next begins again. */
static void recount_locked(vault_pages_t *p, apr_pool_t *pool)
{
    apr_uint32_t deaths = vault_slot_deaths(p->notifier); /* of those that come meanwhile, the next one takes care */

    reap_blocks(p);
    vault_page_clients_recount(p, pool);
    if (recount_holders(p, pool)) {
        vault_store(&p->table->recounted, deaths);
    }
}

int vault_pages_recount(vault_pages_t *p)
{
    apr_pool_t *pool;

    if (!is_due(p) || apr_pool_create_unmanaged(&pool) != APR_SUCCESS) {
        return 0;
    }
    vault_lock_acquire(&p->table->recounting);
    if (is_due(p)) { /* else another child has just done it */
        recount_locked(p, pool);
    }
    vault_lock_release(&p->table->recounting);
    apr_pool_destroy(pool);
    return 1;
}
