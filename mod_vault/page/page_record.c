/* SPDX-License-Identifier: Apache-2.0 */
/* One record of the table of pages: its lock and the recovery after its owner has died, its blocks in the heap,
 * and the interests that it holds. */
#include "page/page_record.h"

#include <string.h>

#include "apr_strings.h"

#define HOLDS_STEP 8

vault_holds_t *vault_page_record_holds(vault_pages_t *p, vault_page_record_t *rec)
{
    return rec->holds ? vault_heap_at(p->heap, rec->holds) : NULL;
}

/* A block or a hold that was being moved may still be in its old position, too: it must not be released twice. */
static void mend(vault_pages_t *p, vault_page_record_t *rec)
{
    vault_holds_t *h = vault_page_record_holds(p, rec);
    apr_uint32_t i;

    for (i = 0; i < VAULT_PAGE_STAGED; i++) {
        if (rec->staged[i] == rec->base) {
            rec->staged[i] = 0;
        }
    }
    for (i = 0; h && i + 1 < h->count; i++) {
        if (h->interest[i] == h->interest[h->count - 1]) {
            vault_store(&h->count, h->count - 1);
        }
    }
}

/* What the dead owner was writing is either complete or absent. What it had written may not have been
 * announced, so all are notified. */
void vault_page_record_lock(vault_pages_t *p, vault_page_record_t *rec)
{
    if (vault_lock_acquire(&rec->lock)) {
        mend(p, rec);
        vault_notifier_all(p->notifier, 0);
    }
}

int vault_page_record_is(const vault_page_record_t *rec, const vault_page_t *page)
{
    return (((vault_load(&rec->id[0]) ^ page->id[0]) | (vault_load(&rec->id[1]) ^ page->id[1])) == 0) &&
           (page->id[0] | page->id[1]);
}

/* Lock the record of the page. NULL: there is no such page. */
vault_page_record_t *vault_page_record_lock_page(vault_pages_t *p, const vault_page_t *page)
{
    vault_page_record_t *rec;

    if (page->index == 0 || page->index > p->max || !vault_page_record_is(&p->records[page->index], page)) {
        return NULL;
    }
    rec = &p->records[page->index];
    vault_page_record_lock(p, rec);
    if (!vault_page_record_is(rec, page)) {
        vault_lock_release(&rec->lock);
        return NULL;
    }
    return rec;
}

/* ------------------------------------------------------------------- blocks */

apr_uint64_t vault_page_record_seq(vault_pages_t *p, vault_off_t block)
{
    return vault_state_seq(vault_heap_at(p->heap, block));
}

apr_status_t vault_page_record_admits(vault_pages_t *p, const vault_page_record_t *rec, const vault_owner_t *owner)
{
    if (rec->host != (owner ? owner->host : 0)) {
        return APR_NOTFOUND;
    }
    if (!rec->owner) {
        return APR_SUCCESS;
    }
    return owner && owner->user && rec->realm == owner->realm &&
                   !strcmp(vault_heap_at(p->heap, rec->owner), owner->user)
               ? APR_SUCCESS
               : APR_EACCES;
}

vault_off_t vault_page_record_alloc(vault_pages_t *p, vault_page_record_t *rec, apr_size_t size,
                                    vault_eviction_t *eviction)
{
    apr_size_t takes = vault_heap_takes(size);
    vault_off_t block;

    if (!takes || vault_page_charge(p, rec, VAULT_CLIENT_BYTES, takes, eviction) != APR_SUCCESS) {
        return 0;
    }
    block = vault_heap_alloc(p->heap, size);
    if (!block) {
        vault_page_refund(p, rec, VAULT_CLIENT_BYTES, takes);
        vault_eviction_need(eviction, rec, VAULT_CLIENT_BYTES, takes, 0);
    }
    return block;
}

void vault_page_record_free_block(vault_pages_t *p, vault_page_record_t *rec, vault_off_t block)
{
    apr_size_t takes = vault_heap_block_takes(p->heap, block);

    if (block && vault_heap_free(p->heap, block)) {
        vault_page_refund(p, rec, VAULT_CLIENT_BYTES, takes);
    }
}

vault_off_t vault_page_record_store(vault_pages_t *p, vault_page_record_t *rec, const vault_state_t *state,
                                    vault_eviction_t *eviction)
{
    apr_size_t size = vault_state_size(state);
    vault_off_t block = size <= VAULT_STATE_MAX ? vault_page_record_alloc(p, rec, size, eviction) : 0;

    if (block) {
        vault_state_encode(state, vault_heap_at(p->heap, block), size);
    }
    return block;
}

vault_state_t *vault_page_record_read(vault_pages_t *p, vault_off_t block, apr_pool_t *pool)
{
    const void *stored = vault_heap_at(p->heap, block);
    apr_size_t size = stored ? vault_state_bytes(stored) : 0;

    return size && size <= VAULT_STATE_MAX ? vault_state_decode(apr_pmemdup(pool, stored, size), size, pool) : NULL;
}

void vault_page_record_free(vault_pages_t *p, vault_page_record_t *rec, vault_off_t *place)
{
    vault_off_t block = *place;

    vault_store(place, 0);
    vault_page_record_free_block(p, rec, block);
}

/* Makes room for one more hold. @return 0: there is no memory */
static int grow_holds(vault_pages_t *p, vault_page_record_t *rec, vault_eviction_t *lacking)
{
    vault_holds_t *old = vault_page_record_holds(p, rec), *h;
    apr_uint32_t room = old ? old->room * 2 : HOLDS_STEP;
    vault_off_t block, before = rec->holds;

    if (old && old->count >= p->limits.interests) {
        return 0;
    }
    if (old && old->count < old->room) {
        return 1;
    }
    if (room > VAULT_PAGE_INTERESTS_MAX ||
        !(block = vault_page_record_alloc(p, rec, sizeof(*h) + room * sizeof(vault_interest_t), lacking))) {
        return 0;
    }
    h = vault_heap_at(p->heap, block);
    h->room = room;
    h->count = old ? old->count : 0;
    if (old) {
        memcpy(h->interest, old->interest, old->count * sizeof(vault_interest_t));
    }
    vault_store(&rec->holds, block);
    vault_page_record_free_block(p, rec, before);
    return 1;
}

static int is_held(const vault_holds_t *h, vault_interest_t interest)
{
    apr_uint32_t i;

    for (i = 0; h && i < h->count; i++) {
        if (h->interest[i] == interest) {
            return 1;
        }
    }
    return 0;
}

/* The client's limit is about slots of the table: an interest that other pages hold as well is charged, but not
 * refused. */
static apr_status_t charge_hold(vault_pages_t *p, vault_page_record_t *rec, vault_interest_t interest,
                                vault_eviction_t *eviction)
{
    int is_new = vault_interest_holders(p->notifier, interest) == 1;

    return vault_page_charge(p, rec, VAULT_CLIENT_INTERESTS, 1, is_new ? eviction : NULL);
}

static apr_status_t hold_interest(vault_pages_t *p, const vault_page_record_t *rec, const char *name, vault_dep_t *held,
                                  vault_eviction_t *eviction)
{
    apr_status_t rv = vault_interest_hold(p->notifier, name, &held->interest, &held->stamp);

    if (rv == APR_ENOSPC) {
        vault_eviction_need(eviction, rec, VAULT_CLIENT_INTERESTS, 1, 0);
    }
    return rv;
}

apr_status_t vault_page_record_hold_own(vault_pages_t *p, vault_page_record_t *rec, const char *name,
                                        vault_eviction_t *eviction)
{
    vault_dep_t own;
    apr_status_t rv = hold_interest(p, rec, name, &own, eviction);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    if ((rv = charge_hold(p, rec, own.interest, eviction)) != APR_SUCCESS) {
        vault_interest_release(p->notifier, own.interest);
        return rv;
    }
    vault_store(&rec->own, own.interest);
    return APR_SUCCESS;
}

apr_status_t vault_page_record_hold(vault_pages_t *p, vault_page_record_t *rec, const char *name, vault_dep_t *held,
                                    vault_eviction_t *eviction)
{
    apr_status_t rv = hold_interest(p, rec, name, held, eviction);
    vault_holds_t *h;

    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (is_held(vault_page_record_holds(p, rec), held->interest)) {
        /* a page holds an interest once, no matter how often it asks for it */
        vault_interest_release(p->notifier, held->interest);
        return APR_SUCCESS;
    }
    if (!grow_holds(p, rec, eviction) || charge_hold(p, rec, held->interest, eviction) != APR_SUCCESS) {
        vault_interest_release(p->notifier, held->interest);
        return APR_ENOSPC;
    }
    h = vault_page_record_holds(p, rec);
    h->interest[h->count] = held->interest;
    vault_store(&h->count, h->count + 1);
    return APR_SUCCESS;
}

static int names(vault_pages_t *p, vault_off_t block, vault_interest_t interest)
{
    return block && vault_state_names(vault_heap_at(p->heap, block), interest);
}

static int named(vault_pages_t *p, vault_page_record_t *rec, vault_interest_t interest)
{
    unsigned i;

    for (i = 0; i < VAULT_PAGE_STAGED; i++) {
        if (names(p, rec->staged[i], interest)) {
            return 1;
        }
    }
    return names(p, rec->base, interest) || names(p, rec->calls, interest);
}

/* Releases the interests that neither a stored state nor the open run's calls depend on. */
void vault_page_record_release_unnamed(vault_pages_t *p, vault_page_record_t *rec)
{
    vault_holds_t *h = vault_page_record_holds(p, rec);
    apr_uint32_t i = 0;

    while (h && i < h->count) {
        vault_interest_t interest = h->interest[i];
        if (named(p, rec, interest)) {
            i++;
            continue;
        }
        h->interest[i] = h->interest[h->count - 1];
        vault_store(&h->count, h->count - 1);
        vault_interest_release(p->notifier, interest);
        vault_page_refund(p, rec, VAULT_CLIENT_INTERESTS, 1);
    }
}
