/* SPDX-License-Identifier: Apache-2.0 */
/* The table of pages: how a page is created, and how it is dropped, by request, by expiry, or to make room for
 * another. */
#include "page/page_record.h"

#include <string.h>

#include "apr_general.h"
#include "apr_strings.h"

#include "mod_vault/vault.h"

#define OWN_PREFIX "page:"
/* The size of an ordinary page. */
#define ORDINARY_BYTES 1024
#define ORDINARY_INTERESTS 8
#define SWEEP_EVERY (APR_USEC_PER_SEC / 2)

apr_uint64_t vault_pages_space(const vault_limits_t *limits)
{
    return sizeof(vault_page_table_t) + ((apr_uint64_t)limits->pages + 1) * sizeof(vault_page_record_t) +
           vault_page_ids_buckets(limits->pages) * sizeof(apr_uint32_t) + 256;
}

apr_status_t vault_pages_create(vault_pages_t **pages, vault_segment_t *segment, const vault_page_tables_t *tables,
                                apr_pool_t *pool)
{
    vault_pages_t *p = apr_pcalloc(pool, sizeof(*p));
    apr_uint64_t bytes, of_ids;

    p->heap = tables->heap;
    p->notifier = tables->notifier;
    p->clients = tables->clients;
    p->max = vault_segment_limits(segment)->pages;
    p->limits.interests = VAULT_PAGE_INTERESTS;
    bytes = ((apr_uint64_t)p->max + 1) * sizeof(vault_page_record_t);
    p->table =
        vault_segment_at(segment, vault_segment_carve(segment, sizeof(vault_page_table_t)), sizeof(vault_page_table_t));
    p->records = vault_segment_at(segment, vault_segment_carve(segment, bytes), bytes);
    p->mask = vault_page_ids_buckets(p->max) - 1;
    of_ids = ((apr_uint64_t)p->mask + 1) * sizeof(apr_uint32_t);
    p->buckets = vault_segment_at(segment, vault_segment_carve(segment, of_ids), of_ids);
    if (!p->table || !p->records || !p->buckets) {
        return APR_ENOSPC;
    }
    *pages = p;
    return vault_lock_init(&p->table->lock);
}

vault_notifier_t *vault_pages_notifier(const vault_pages_t *p)
{
    return p->notifier;
}

void vault_pages_set_slot(vault_pages_t *p, unsigned slot)
{
    p->slot = slot;
}

static apr_uint64_t largest(apr_uint64_t a, apr_uint64_t b)
{
    return a > b ? a : b;
}

void vault_pages_default_limits(const vault_pages_t *p, vault_page_limits_t *limits)
{
    apr_uint64_t *most = limits->of_client, pages = most[VAULT_CLIENT_PAGES];

    if (!most[VAULT_CLIENT_BYTES]) {
        most[VAULT_CLIENT_BYTES] = largest(vault_heap_size(p->heap) / 16, pages * ORDINARY_BYTES);
    }
    if (!most[VAULT_CLIENT_INTERESTS]) {
        most[VAULT_CLIENT_INTERESTS] = largest(vault_notifier_interests(p->notifier) / 8, pages * ORDINARY_INTERESTS);
    }
}

void vault_pages_set_limits(vault_pages_t *p, const vault_page_limits_t *limits)
{
    p->limits = *limits;
}

const vault_page_limits_t *vault_pages_limits(const vault_pages_t *p)
{
    return &p->limits;
}

/* ------------------------------------------------------------------ records */

apr_uint32_t vault_page_table_free(const vault_pages_t *p)
{
    apr_uint32_t i = p->table->free, n = 0;

    while (i && i <= p->max && n <= p->table->fresh) {
        i = p->records[i].next;
        n++;
    }
    return n;
}

void vault_page_table_lock(vault_pages_t *p)
{
    if (vault_lock_acquire(&p->table->lock)) {
        vault_store(&p->table->count, p->table->fresh - vault_page_table_free(p));
        vault_page_ids_mend_locked(p);
        vault_notifier_all(p->notifier, 0);
    }
}

static void release_record(vault_pages_t *p, apr_uint32_t index)
{
    vault_page_table_lock(p);
    vault_page_ids_remove_locked(p, index);
    p->records[index].next = p->table->free;
    p->table->free = index;
    __atomic_fetch_sub(&p->table->count, 1, __ATOMIC_RELAXED);
    vault_lock_release(&p->table->lock);
}

/* A free record for the page with that key, or 0. */
static apr_uint32_t claim_record(vault_pages_t *p, apr_uint32_t key)
{
    apr_uint32_t index = 0;

    vault_page_table_lock(p);
    if (p->table->free) {
        index = p->table->free;
        p->table->free = p->records[index].next;
    }
    else if (p->table->fresh < p->max && vault_lock_init(&p->records[p->table->fresh + 1].lock) == APR_SUCCESS) {
        index = p->table->fresh + 1;
        p->records[index].born = 1;
        vault_store(&p->table->fresh, index); /* its lock is initialised: a walk over all records may take it */
    }
    if (index) {
        vault_page_ids_add_locked(p, index, key);
        __atomic_fetch_add(&p->table->count, 1, __ATOMIC_RELAXED);
    }
    vault_lock_release(&p->table->lock);
    return index;
}

apr_uint32_t vault_pages_count(const vault_pages_t *p)
{
    return vault_load(&p->table->count);
}

/* ------------------------------------------------------------ life and death */

/* This is the last step: the row belongs to the client as long as the page is charged to it. */
static void forget_client_locked(vault_pages_t *p, vault_page_record_t *rec)
{
    vault_client_row_t row = rec->row;

    vault_store(&rec->client, 0);
    vault_store(&rec->row, 0);
    vault_clients_give(p->clients, row, VAULT_CLIENT_PAGES, 0, 1);
}

static void drop_locked(vault_pages_t *p, vault_page_record_t *rec)
{
    unsigned i;

    vault_store(&rec->id[0], 0);
    vault_store(&rec->id[1], 0);
    vault_store(&rec->fence, rec->fence + 1);
    vault_page_record_free(p, rec, &rec->base);
    for (i = 0; i < VAULT_PAGE_STAGED; i++) {
        vault_page_record_free(p, rec, &rec->staged[i]);
    }
    vault_page_record_close(p, rec);
    vault_page_record_free(p, rec, &rec->owner);
    vault_page_record_release_unnamed(p, rec);
    vault_page_record_free(p, rec, &rec->holds);
    if (rec->own) {
        vault_interest_t own = rec->own;
        vault_store(&rec->own, 0);
        /* otherwise no poll can wait for it: most pages of applications are never polled */
        if (vault_load(&rec->polled)) {
            vault_notifier_notify_interest(p->notifier, own, 0);
        }
        vault_interest_release(p->notifier, own);
        vault_page_refund(p, rec, VAULT_CLIENT_INTERESTS, 1);
    }
    forget_client_locked(p, rec);
}

void vault_page_drop(vault_pages_t *p, const vault_page_t *page)
{
    vault_page_record_t *rec = vault_page_record_lock_page(p, page);

    if (rec) {
        drop_locked(p, rec);
        vault_lock_release(&rec->lock);
        release_record(p, page->index);
    }
}

int vault_page_is_idle(const vault_page_record_t *rec, apr_time_t now, apr_interval_time_t idle)
{
    return (apr_time_t)vault_load(&rec->idle_since) + idle < now;
}

static int is_expired(const vault_page_record_t *rec, apr_time_t now, apr_interval_time_t idle)
{
    return vault_page_is_idle(rec, now, vault_load(&rec->polled) ? idle : VAULT_PAGE_UNPOLLED);
}

int vault_page_drop_victim(vault_pages_t *p, const vault_victim_t *victim, apr_time_t now, apr_interval_time_t idle)
{
    vault_page_record_t *rec = vault_page_record_lock_page(p, &victim->page);
    int drop;

    if (!rec) {
        return 0;
    }
    drop = victim->lives || vault_page_is_idle(rec, now, idle); /* a poll may have come since the page was selected */
    if (drop) {
        drop_locked(p, rec);
    }
    vault_lock_release(&rec->lock);
    if (drop) {
        release_record(p, victim->page.index);
    }
    return drop;
}

int vault_page_record_has_left(const vault_page_record_t *rec)
{
    unsigned i;

    for (i = 0; i < VAULT_PAGE_STAGED; i++) {
        if (vault_load(&rec->staged[i])) {
            return 1;
        }
    }
    return vault_load(&rec->own) || vault_load(&rec->base) || vault_load(&rec->calls) || vault_load(&rec->owner) ||
           vault_load(&rec->holds) || vault_load(&rec->row);
}

/* The record has no id, but still has resources, and no thread uses it: the process that created or dropped the page
 * was killed. */
static void finish_drop(vault_pages_t *p, apr_uint32_t index)
{
    vault_page_record_t *rec = &p->records[index];
    int left;

    vault_page_record_lock(p, rec);
    left = !(rec->id[0] | rec->id[1]) && vault_page_record_has_left(rec);
    if (left) {
        drop_locked(p, rec);
    }
    vault_lock_release(&rec->lock);
    if (left) {
        release_record(p, index);
    }
}

static int is_orphaned(const vault_pages_t *p, const vault_page_record_t *rec, apr_time_t now)
{
    return (apr_time_t)vault_load(&rec->idle_since) > now && vault_lease_is_void(p->notifier, vault_load(&rec->lease));
}

/* The poll died with its child and left no trace: the page counts as idle from the time when this is noticed. */
static void end_lease(vault_pages_t *p, const vault_page_t *page, apr_time_t now)
{
    vault_page_record_t *rec = vault_page_record_lock_page(p, page);

    if (!rec) {
        return;
    }
    if (is_orphaned(p, rec, now)) {
        vault_store(&rec->idle_since, (apr_uint64_t)now);
        vault_page_record_void_run(p, rec);
    }
    vault_lock_release(&rec->lock);
}

unsigned vault_pages_sweep(vault_pages_t *p, apr_time_t now, apr_interval_time_t idle)
{
    apr_uint32_t i, last = vault_load(&p->table->fresh);
    unsigned dropped = 0;

    for (i = 1; i <= last; i++) {
        vault_victim_t v = {.lives = 0};
        if (!vault_page_at(p, i, &v.page)) {
            if (vault_page_record_has_left(&p->records[i])) {
                finish_drop(p, i);
            }
        }
        else if (is_orphaned(p, &p->records[i], now)) {
            end_lease(p, &v.page, now);
        }
        else if (is_expired(&p->records[i], now, idle)) {
            dropped += (unsigned)vault_page_drop_victim(p, &v, now,
                                                        vault_load(&p->records[i].polled) ? idle : VAULT_PAGE_UNPOLLED);
        }
    }
    return dropped;
}

int vault_pages_claim_sweep(vault_pages_t *p, apr_time_t now)
{
    apr_uint64_t swept = vault_load(&p->table->swept);

    return (apr_time_t)swept + SWEEP_EVERY <= now &&
           __atomic_compare_exchange_n(&p->table->swept, &swept, (apr_uint64_t)now, 0, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

/* Pages that have expired are dropped before any page must make room for another. */
static apr_uint32_t find_record(vault_pages_t *p, apr_uint32_t key, apr_time_t now, apr_interval_time_t idle)
{
    apr_uint32_t index = claim_record(p, key);

    if (!index && vault_pages_sweep(p, now, idle)) {
        index = claim_record(p, key);
    }
    return index;
}

static apr_status_t store_owner_locked(vault_pages_t *p, vault_page_record_t *rec, const char *user,
                                       vault_eviction_t *eviction)
{
    vault_off_t block = vault_page_record_alloc(p, rec, strlen(user) + 1, eviction);

    if (!block) {
        return APR_ENOSPC;
    }
    memcpy(vault_heap_at(p->heap, block), user, strlen(user) + 1);
    vault_store(&rec->owner, block);
    return APR_SUCCESS;
}

static void reset_record(vault_page_record_t *rec, const vault_owner_t *owner, apr_time_t now)
{
    vault_store(&rec->client, owner ? owner->client : 0);
    rec->host = owner ? owner->host : 0;
    rec->realm = owner ? owner->realm : 0;
    rec->tab[0] = rec->tab[1] = 0;
    rec->last_seq = 0;
    rec->written = 0;
    rec->head = 0;
    rec->streams = 0;
    memset(&rec->last, 0, sizeof(rec->last));
    vault_store(&rec->polled, 0);
    vault_store(&rec->idle_since, (apr_uint64_t)now);
}

static apr_status_t fill_locked(vault_pages_t *p, vault_page_record_t *rec, const vault_page_t *page,
                                const vault_owner_t *owner, vault_eviction_t *eviction)
{
    char name[sizeof(OWN_PREFIX) + VAULT_PAGE_ID_LEN] = OWN_PREFIX;
    apr_status_t rv;

    vault_page_format(page, name + strlen(OWN_PREFIX));
    reset_record(rec, owner, eviction->now);
    rv = vault_page_charge(p, rec, VAULT_CLIENT_PAGES, 1, eviction);
    if (rv == APR_SUCCESS) {
        rv = vault_page_record_hold_own(p, rec, name, eviction);
    }
    if (rv == APR_SUCCESS && owner && owner->user) {
        rv = store_owner_locked(p, rec, owner->user, eviction);
    }
    if (rv == APR_SUCCESS) {
        vault_store(&rec->id[1], page->id[1]);
        vault_store(&rec->id[0], page->id[0]);
    }
    else {
        drop_locked(p, rec);
    }
    return rv;
}

static apr_status_t create(vault_pages_t *p, vault_page_t *page, const vault_owner_t *owner, apr_interval_time_t idle,
                           vault_eviction_t *eviction)
{
    vault_page_record_t *rec;
    apr_status_t rv;

    if (!(page->index = find_record(p, page->key, eviction->now, idle))) {
        vault_eviction_need(eviction, NULL, VAULT_CLIENT_PAGES, 1, 0);
        return APR_ENOSPC;
    }
    rec = &p->records[page->index];
    vault_page_record_lock(p, rec);
    rv = fill_locked(p, rec, page, owner, eviction);
    vault_lock_release(&rec->lock);
    if (rv != APR_SUCCESS) {
        release_record(p, page->index);
    }
    return rv;
}

apr_status_t vault_page_draw(vault_page_t *page)
{
    unsigned char random[sizeof(page->id) + sizeof(page->key)];
    apr_status_t rv = apr_generate_random_bytes(random, sizeof(random));

    memcpy(page->id, random, sizeof(page->id));
    memcpy(&page->key, random + sizeof(page->id), sizeof(page->key));
    page->key += !page->key;
    page->index = 0;
    return rv;
}

apr_status_t vault_page_create_drawn(vault_pages_t *p, vault_page_t *page, const vault_owner_t *owner, apr_time_t now,
                                     apr_interval_time_t idle)
{
    vault_eviction_t eviction = {.client = owner ? owner->client : 0, .now = now};
    apr_status_t rv;

    vault_page_locate(p, page);
    if (page->index) {
        return APR_EEXIST;
    }
    do {
        rv = create(p, page, owner, idle, &eviction);
    } while (rv == APR_ENOSPC && vault_evict_page(p, &eviction));
    return rv;
}

apr_status_t vault_page_create(vault_pages_t *p, vault_page_t *page, const vault_owner_t *owner, apr_time_t now,
                               apr_interval_time_t idle)
{
    apr_status_t rv = vault_page_draw(page);

    return rv == APR_SUCCESS ? vault_page_create_drawn(p, page, owner, now, idle) : rv;
}
