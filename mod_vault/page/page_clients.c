/* SPDX-License-Identifier: Apache-2.0 */
/* What a page costs its client: the page itself, the bytes of its blocks, and the interests that it holds. A process
 * charges the client before it writes the record, and clears the record before it refunds the client. So a process that
 * is killed in between leaves a count that is too high, never one that is too low.
 */
#include "page/page_record.h"

#include <string.h>

static apr_uint64_t limit_of(const vault_pages_t *p, vault_client_kind_t kind)
{
    return p->limits.of_client[kind] ? p->limits.of_client[kind] : APR_UINT64_MAX;
}

apr_status_t vault_page_charge(vault_pages_t *p, vault_page_record_t *rec, vault_client_kind_t kind,
                               apr_uint64_t amount, vault_eviction_t *eviction)
{
    vault_client_claim_t claim = {rec->client, kind, 0, amount, eviction ? limit_of(p, kind) : APR_UINT64_MAX};
    vault_client_row_t row;
    apr_status_t rv;

    if (!rec->client) {
        return APR_SUCCESS;
    }
    rv = vault_clients_take(p->clients, &row, &claim);
    if (rv == APR_SUCCESS) {
        vault_store(&rec->row, row); /* the same until the page goes: what is charged for the page itself keeps it */
        return APR_SUCCESS;
    }
    if (rv == APR_ENOSPC) {
        vault_eviction_need(eviction, rec, kind, amount, 1);
    }
    return APR_ENOSPC;
}

void vault_page_refund(vault_pages_t *p, vault_page_record_t *rec, vault_client_kind_t kind, apr_uint64_t amount)
{
    vault_clients_give(p->clients, rec->row, kind, 0, amount);
}

void vault_page_count_charges(vault_pages_t *p, vault_page_record_t *rec, vault_client_counts_t *counts)
{
    const vault_holds_t *h = vault_page_record_holds(p, rec);
    unsigned i;

    counts->held[VAULT_CLIENT_PAGES]++;
    counts->held[VAULT_CLIENT_SESSIONS] += (apr_uint64_t)vault_record_is_session(rec);
    counts->held[VAULT_CLIENT_INTERESTS] += (rec->own ? 1 : 0) + (h ? h->count : 0);
    counts->held[VAULT_CLIENT_BYTES] +=
        vault_heap_block_takes(p->heap, rec->base) + vault_heap_block_takes(p->heap, rec->owner) +
        vault_heap_block_takes(p->heap, rec->calls) + vault_heap_block_takes(p->heap, rec->holds);
    for (i = 0; i < VAULT_PAGE_STAGED; i++) {
        counts->held[VAULT_CLIENT_BYTES] += vault_heap_block_takes(p->heap, rec->staged[i]);
    }
}

/* Into `counts`, by row: 1 to `last`; what is charged elsewhere counts as 0. */
static void count_all(vault_pages_t *p, vault_client_counts_t *counts, vault_client_row_t last)
{
    apr_uint32_t i, records = vault_pages_last(p);

    memset(counts, 0, ((apr_size_t)last + 1) * sizeof(*counts));
    for (i = 1; i <= records; i++) {
        vault_page_record_t *rec = &p->records[i];

        vault_page_record_lock(p, rec);
        if (rec->row) {
            vault_page_count_charges(p, rec, &counts[rec->row <= last ? rec->row : 0]);
        }
        vault_lock_release(&rec->lock);
    }
}

static int is_right(apr_uint64_t has, apr_uint64_t should_have, int is_exact)
{
    return is_exact ? has == should_have : has >= should_have;
}

/* The counts are exact until a process is killed. */
const char *vault_page_clients_check(vault_pages_t *p, apr_pool_t *pool)
{
    int is_exact = !vault_slot_deaths(p->notifier);
    vault_client_row_t row, last = vault_clients_last(p->clients);
    vault_client_counts_t *counts = apr_palloc(pool, ((apr_size_t)last + 1) * sizeof(*counts));
    unsigned kind;

    count_all(p, counts, last);
    for (row = 1; row <= last; row++) {
        for (kind = 0; kind < VAULT_CLIENT_OF_SLOT; kind++) {
            if (!is_right(vault_clients_row_has(p->clients, row, (vault_client_kind_t)kind), counts[row].held[kind],
                          is_exact)) {
                return "the counts of a client are not the sums of its pages";
            }
        }
    }
    return NULL;
}
