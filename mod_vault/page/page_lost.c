/* SPDX-License-Identifier: Apache-2.0 */
/* How much of the heap killed processes have lost: blocks that are in use and that no page has. A block is in
 * use outside of a record only while that record's lock is held.
 */
#include "page/page_record.h"

static apr_uint64_t count_lost(vault_pages_t *p)
{
    apr_uint64_t used = vault_heap_used(p->heap);
    vault_client_counts_t counts = {{0}};
    apr_uint32_t i, last = vault_pages_last(p);

    for (i = 1; i <= last; i++) {
        vault_page_record_t *rec = &p->records[i];

        vault_page_record_lock(p, rec);
        vault_page_count_charges(p, rec, &counts);
        vault_lock_release(&rec->lock);
    }
    return used > counts.held[VAULT_CLIENT_BYTES] ? used - counts.held[VAULT_CLIENT_BYTES] : 0;
}

int vault_pages_count_lost(vault_pages_t *p)
{
    apr_uint32_t counted = vault_load(&p->table->deaths), deaths = vault_slot_deaths(p->notifier);

    if (counted == deaths ||
        !__atomic_compare_exchange_n(&p->table->deaths, &counted, deaths, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
        return 0;
    }
    vault_store(&p->table->lost, count_lost(p));
    return vault_pages_lost(p) > vault_heap_size(p->heap) / 8;
}

apr_uint64_t vault_pages_lost(const vault_pages_t *p)
{
    return vault_load(&p->table->lost);
}
