/* SPDX-License-Identifier: Apache-2.0 */
/* The table of pages: how a page comes to be, and how it goes: dropped, expired, or to make room. */
#include "page_record.h"

#include <string.h>

#include "apr_general.h"
#include "apr_strings.h"

#include "vault.h"

#define OWN_PREFIX "page:"
#define SWEEP_EVERY (APR_USEC_PER_SEC / 2)

apr_uint64_t vault_pages_space(const vault_limits_t *limits)
{
    return sizeof(vault_page_table_t) + sizeof(vault_page_clients_t) +
           ((apr_uint64_t)limits->pages + 1) * sizeof(vault_page_record_t) + 192;
}

apr_status_t vault_pages_create(vault_pages_t **pages, vault_segment_t *segment, vault_heap_t *heap,
                                vault_notifier_t *notifier, apr_pool_t *pool)
{
    vault_pages_t *p = apr_pcalloc(pool, sizeof(*p));
    apr_uint64_t bytes;
    apr_status_t rv;

    p->heap = heap;
    p->notifier = notifier;
    p->max = vault_segment_limits(segment)->pages;
    p->max_interests = VAULT_PAGE_INTERESTS;
    bytes = ((apr_uint64_t)p->max + 1) * sizeof(vault_page_record_t);
    p->table =
        vault_segment_at(segment, vault_segment_carve(segment, sizeof(vault_page_table_t)), sizeof(vault_page_table_t));
    p->records = vault_segment_at(segment, vault_segment_carve(segment, bytes), bytes);
    p->clients = vault_segment_at(segment, vault_segment_carve(segment, sizeof(vault_page_clients_t)),
                                  sizeof(vault_page_clients_t));
    if (!p->table || !p->records || !p->clients) {
        return APR_ENOSPC;
    }
    *pages = p;
    if ((rv = vault_lock_init(&p->table->recounting)) != APR_SUCCESS) {
        return rv;
    }
    return vault_lock_init(&p->table->lock);
}

void vault_pages_set_slot(vault_pages_t *p, unsigned slot)
{
    p->slot = slot;
}

void vault_pages_set_interests(vault_pages_t *p, apr_uint32_t most)
{
    p->max_interests = most;
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
        vault_notifier_all(p->notifier, 0);
    }
}

static void release_record(vault_pages_t *p, apr_uint32_t index)
{
    vault_page_table_lock(p);
    p->records[index].next = p->table->free;
    p->table->free = index;
    __atomic_fetch_sub(&p->table->count, 1, __ATOMIC_RELAXED);
    vault_lock_release(&p->table->lock);
}

/* A record that nobody has, or 0. */
static apr_uint32_t claim_record(vault_pages_t *p)
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
        vault_store(&p->table->fresh, index); /* its lock is there: whoever walks over all may take it */
    }
    if (index) {
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

static void drop_locked(vault_pages_t *p, vault_page_record_t *rec)
{
    unsigned i;

    vault_store(&rec->id[0], 0);
    vault_store(&rec->id[1], 0);
    vault_store(&rec->fence, rec->fence + 1);
    vault_page_record_free(p, &rec->base);
    for (i = 0; i < VAULT_PAGE_STAGED; i++) {
        vault_page_record_free(p, &rec->staged[i]);
    }
    vault_page_record_free(p, &rec->owner);
    vault_page_clients_leave(p, __atomic_exchange_n(&rec->client, 0, __ATOMIC_SEQ_CST));
    vault_page_record_release_unnamed(p, rec);
    vault_page_record_free(p, &rec->holds);
    if (rec->own) {
        vault_interest_t own = rec->own;
        vault_store(&rec->own, 0);
        vault_notifier_notify_interest(p->notifier, own, 0);
        vault_interest_release(p->notifier, own);
    }
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

static int idle_longer(const vault_page_record_t *rec, apr_time_t now, apr_interval_time_t idle)
{
    return (apr_time_t)vault_load(&rec->idle_since) + idle < now;
}

static int is_expired(const vault_page_record_t *rec, apr_time_t now, apr_interval_time_t idle)
{
    return idle_longer(rec, now, vault_load(&rec->polled) ? idle : VAULT_PAGE_UNPOLLED);
}

/* Drop the page unless somebody has polled it since it was looked at. */
static int drop_if_idle(vault_pages_t *p, const vault_page_t *page, apr_time_t now, apr_interval_time_t idle)
{
    vault_page_record_t *rec = vault_page_record_lock_page(p, page);
    int drop;

    if (!rec) {
        return 0;
    }
    drop = idle_longer(rec, now, idle);
    if (drop) {
        drop_locked(p, rec);
    }
    vault_lock_release(&rec->lock);
    if (drop) {
        release_record(p, page->index);
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
    return vault_load(&rec->own) || vault_load(&rec->base) || vault_load(&rec->owner) || vault_load(&rec->holds);
}

/* A record without an id that has something left, and nobody inside: whoever made or dropped the page was killed. */
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

/* Its poll died with its child and left nothing behind: the page is idle from when that is seen. */
static void end_lease(vault_pages_t *p, const vault_page_t *page, apr_time_t now)
{
    vault_page_record_t *rec = vault_page_record_lock_page(p, page);

    if (!rec) {
        return;
    }
    if (is_orphaned(p, rec, now)) {
        vault_store(&rec->idle_since, (apr_uint64_t)now);
    }
    vault_lock_release(&rec->lock);
}

unsigned vault_pages_sweep(vault_pages_t *p, apr_time_t now, apr_interval_time_t idle)
{
    apr_uint32_t i, last = vault_load(&p->table->fresh);
    vault_page_clients_t clients;
    unsigned dropped = 0;

    memset(&clients, 0, sizeof(clients));
    for (i = 1; i <= last; i++) {
        vault_page_t page;
        if (!vault_page_at(p, i, &page)) {
            if (vault_page_record_has_left(&p->records[i])) {
                finish_drop(p, i);
            }
        }
        else if (is_orphaned(p, &p->records[i], now)) {
            end_lease(p, &page, now);
        }
        else if (is_expired(&p->records[i], now, idle)) {
            dropped +=
                (unsigned)drop_if_idle(p, &page, now, vault_load(&p->records[i].polled) ? idle : VAULT_PAGE_UNPOLLED);
        }
        vault_page_clients_add(&clients, vault_load(&p->records[i].client));
    }
    vault_page_clients_set(p, &clients);
    return dropped;
}

int vault_pages_claim_sweep(vault_pages_t *p, apr_time_t now)
{
    apr_uint64_t swept = vault_load(&p->table->swept);

    return (apr_time_t)swept + SWEEP_EVERY <= now &&
           __atomic_compare_exchange_n(&p->table->swept, &swept, (apr_uint64_t)now, 0, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

/* Of two pages that nobody polls, which is the first to make room? One never polled; one of the client that has the most, so that who
 * fills the table loses his own; one idle for longest. */
static int goes_before(const vault_pages_t *p, const vault_page_record_t *a, const vault_page_record_t *b)
{
    apr_uint32_t polled = vault_load(&a->polled), other_polled = vault_load(&b->polled);
    apr_uint32_t pages = vault_page_clients_pages(p, vault_load(&a->client));
    apr_uint32_t other_pages = vault_page_clients_pages(p, vault_load(&b->client));

    if (!polled != !other_polled) {
        return !polled;
    }
    if (pages != other_pages) {
        return pages > other_pages;
    }
    return vault_load(&a->idle_since) < vault_load(&b->idle_since);
}

/* Make room in a full table. */
static int evict(vault_pages_t *p, apr_time_t now)
{
    apr_uint32_t i, best = 0;
    vault_page_t page;

    for (i = 1; i <= p->max; i++) {
        const vault_page_record_t *rec = &p->records[i], *b = &p->records[best];
        if (!(vault_load(&rec->id[0]) | vault_load(&rec->id[1])) || !idle_longer(rec, now, VAULT_PAGE_EVICTABLE)) {
            continue;
        }
        if (!best || goes_before(p, rec, b)) {
            best = i;
        }
    }
    if (!best) {
        return 0;
    }
    return vault_page_at(p, best, &page) && drop_if_idle(p, &page, now, VAULT_PAGE_EVICTABLE);
}

static apr_uint32_t find_room(vault_pages_t *p, apr_time_t now, apr_interval_time_t idle)
{
    apr_uint32_t index = claim_record(p);

    if (!index && (vault_pages_sweep(p, now, idle) || evict(p, now))) {
        index = claim_record(p);
    }
    return index;
}

static vault_off_t store_string(vault_pages_t *p, const char *s)
{
    vault_off_t block = vault_heap_alloc(p->heap, strlen(s) + 1);

    if (block) {
        memcpy(vault_heap_at(p->heap, block), s, strlen(s) + 1);
    }
    return block;
}

static void reset_record(vault_page_record_t *rec, apr_time_t now)
{
    rec->tab[0] = rec->tab[1] = 0;
    rec->last_seq = 0;
    rec->written = 0;
    rec->tip = 0;
    rec->streams = 0;
    memset(&rec->last, 0, sizeof(rec->last));
    vault_store(&rec->polled, 0);
    vault_store(&rec->idle_since, (apr_uint64_t)now);
}

apr_status_t vault_page_create(vault_pages_t *p, vault_page_t *page, const char *owner, apr_time_t now,
                               apr_interval_time_t idle)
{
    char name[sizeof(OWN_PREFIX) + VAULT_PAGE_ID_LEN] = OWN_PREFIX;
    vault_interest_t own;
    apr_uint64_t stamp;
    vault_page_record_t *rec;
    apr_status_t rv;

    if ((rv = apr_generate_random_bytes((unsigned char *)page->id, sizeof(page->id))) != APR_SUCCESS) {
        return rv;
    }
    if (!(page->index = find_room(p, now, idle))) {
        return APR_ENOSPC;
    }
    rec = &p->records[page->index];
    vault_page_format(page, name + strlen(OWN_PREFIX));
    vault_page_record_lock(p, rec);
    reset_record(rec, now);
    rv = vault_interest_hold(p->notifier, name, &own, &stamp);
    vault_store(&rec->own, own);
    if (rv == APR_SUCCESS && owner) {
        vault_store(&rec->owner, store_string(p, owner));
        rv = rec->owner ? APR_SUCCESS : APR_ENOSPC;
    }
    if (rv == APR_SUCCESS) {
        vault_store(&rec->id[1], page->id[1]);
        vault_store(&rec->id[0], page->id[0]);
    }
    else {
        drop_locked(p, rec);
    }
    vault_lock_release(&rec->lock);
    if (rv != APR_SUCCESS) {
        release_record(p, page->index);
    }
    return rv;
}
