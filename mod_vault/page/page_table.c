/* SPDX-License-Identifier: Apache-2.0 */
/* The table of pages: how a page is created, and how it is dropped, by request, by expiry, or to make room for
 * another. */
#include "page/page_record.h"

#include <string.h>

#include "apr_general.h"
#include "apr_strings.h"

#include "mod_vault/vault.h"

/* What comes before the name of the interest of a page, and of a session. */
#define PAGE_PREFIX "page:"
#define SESSION_PREFIX "session:"
/* The size of an ordinary page. */
#define ORDINARY_BYTES 1024
#define ORDINARY_INTERESTS 8
/* Digits at random in the name of a session's interest. */
#define SESSION_NAME_LEN 12
#define SWEEP_EVERY (APR_USEC_PER_SEC / 2)
/* A table that was swept so recently needs no other sweep to make room. */
#define SWEPT_LATELY (2 * APR_USEC_PER_SEC)

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

    if (!limits->sessions) {
        limits->sessions = (p->max + 1) / 2;
    }
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

/* ------------------------------------------------------------ life and death */

/* This is the last step: the row belongs to the client as long as the page is charged to it. */
static void forget_client_locked(vault_pages_t *p, vault_page_record_t *rec)
{
    vault_client_row_t row = rec->row;

    vault_store(&rec->client, 0);
    vault_store(&rec->row, 0);
    vault_clients_give(p->clients, row, VAULT_CLIENT_SESSIONS, 0, (apr_uint64_t)vault_record_is_session(rec));
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
        vault_page_record_release(p, page->index);
    }
}

int vault_page_is_idle(const vault_page_record_t *rec, apr_time_t now, apr_interval_time_t idle)
{
    return (apr_time_t)vault_load(&rec->idle_since) + idle < now;
}

/* After how long without a poll, or of a session without a request, it expires. */
static apr_interval_time_t idle_most(const vault_page_record_t *rec, apr_interval_time_t idle)
{
    return vault_record_is_session(rec) ? (apr_interval_time_t)vault_load(&rec->idle_most)
           : vault_load(&rec->polled)   ? idle
                                        : VAULT_PAGE_UNPOLLED;
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
        vault_page_record_release(p, victim->page.index);
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
        vault_page_record_release(p, index);
    }
}

static int is_orphaned(const vault_pages_t *p, const vault_page_record_t *rec, apr_time_t now)
{
    return (apr_time_t)vault_load(&rec->idle_since) > now &&
           vault_lease_is_expired(p->notifier, vault_load(&rec->lease));
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
        if (!vault_page_record_at(p, i, &v.page)) {
            if (vault_page_record_has_left(&p->records[i])) {
                finish_drop(p, i);
            }
        }
        else if (is_orphaned(p, &p->records[i], now)) {
            end_lease(p, &v.page, now);
        }
        else if (vault_page_is_idle(&p->records[i], now, idle_most(&p->records[i], idle))) {
            dropped += (unsigned)vault_page_drop_victim(p, &v, now, idle_most(&p->records[i], idle));
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

static int is_swept(const vault_pages_t *p, apr_time_t now)
{
    return (apr_time_t)vault_load(&p->table->swept) + SWEPT_LATELY > now;
}

/* What has expired goes before any page makes room for another. The children sweep about once a second: what has
 * expired since then is not worth a scan of the whole table for each page. */
static apr_uint32_t find_record(vault_pages_t *p, apr_uint32_t key, apr_interval_time_t idle,
                                const vault_eviction_t *eviction)
{
    apr_uint32_t index = vault_page_record_claim(p, key, eviction->kind_asks);

    if (!index && !is_swept(p, eviction->now) && vault_pages_sweep(p, eviction->now, idle)) {
        index = vault_page_record_claim(p, key, eviction->kind_asks);
    }
    return index;
}

apr_status_t vault_page_record_store_owner(vault_pages_t *p, vault_page_record_t *rec, const char *user,
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
    rec->gap = 0;
    memset(&rec->copy, 0, sizeof(rec->copy));
    rec->saved_version = 0;
    rec->written = 0;
    rec->head = 0;
    rec->streams = 0;
    rec->address = 0;
    memset(&rec->last, 0, sizeof(rec->last));
    vault_store(&rec->polled, 0);
    vault_store(&rec->idle_most, (apr_uint64_t)VAULT_PAGE_UNPOLLED);
    vault_store(&rec->idle_since, (apr_uint64_t)now);
}

/* The name of the interest of a page is its id. That of a session is not: the id is a secret of the browser, and must
 * be in no list of interests and in no log. */
static const char *name_own(const vault_page_t *page, vault_record_kind_t kind, char *name)
{
    vault_page_t other;

    if (kind == VAULT_RECORD_PAGE) {
        strcpy(name, PAGE_PREFIX);
        vault_page_format(page, name + strlen(PAGE_PREFIX));
        return name;
    }
    if (vault_page_draw(&other) != APR_SUCCESS) {
        return NULL;
    }
    strcpy(name, SESSION_PREFIX);
    vault_page_format(&other, name + strlen(SESSION_PREFIX));
    name[strlen(SESSION_PREFIX) + SESSION_NAME_LEN] = '\0';
    return name;
}

static apr_status_t fill_locked(vault_pages_t *p, vault_page_record_t *rec, const vault_page_t *page,
                                const vault_owner_t *owner, vault_eviction_t *eviction)
{
    char name[sizeof(SESSION_PREFIX) + VAULT_PAGE_ID_LEN];
    apr_status_t rv;

    reset_record(rec, owner, eviction->now);
    rv = name_own(page, eviction->kind_asks, name) ? APR_SUCCESS : APR_EGENERAL;
    if (rv == APR_SUCCESS) {
        rv = vault_page_charge(p, rec, VAULT_CLIENT_PAGES, 1, eviction);
    }
    if (rv == APR_SUCCESS && eviction->kind_asks == VAULT_RECORD_SESSION) {
        rv = vault_page_charge(p, rec, VAULT_CLIENT_SESSIONS, 1, eviction);
    }
    if (rv == APR_SUCCESS) {
        rv = vault_page_record_hold_own(p, rec, name, eviction);
    }
    if (rv == APR_SUCCESS && owner && owner->user) {
        rv = vault_page_record_store_owner(p, rec, owner->user, eviction);
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
    vault_client_kind_t kind;
    apr_status_t rv;

    if (!(page->index = find_record(p, page->key, idle, eviction))) {
        kind = eviction->kind_asks == VAULT_RECORD_SESSION && vault_sessions_are_full(p) ? VAULT_CLIENT_SESSIONS
                                                                                         : VAULT_CLIENT_PAGES;
        vault_eviction_need(eviction, NULL, kind, 1, 0);
        return APR_ENOSPC;
    }
    rec = &p->records[page->index];
    vault_page_record_lock(p, rec);
    rv = fill_locked(p, rec, page, owner, eviction);
    vault_lock_release(&rec->lock);
    if (rv != APR_SUCCESS) {
        vault_page_record_release(p, page->index);
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

    vault_page_locate(p, page);
    return page->index ? APR_EEXIST : vault_page_record_create(p, page, owner, idle, &eviction);
}

apr_status_t vault_page_record_create(vault_pages_t *p, vault_page_t *page, const vault_owner_t *owner,
                                      apr_interval_time_t idle, vault_eviction_t *eviction)
{
    apr_status_t rv;

    do {
        rv = create(p, page, owner, idle, eviction);
    } while (rv == APR_ENOSPC && vault_evict_page(p, eviction));
    return rv;
}

apr_status_t vault_page_create(vault_pages_t *p, vault_page_t *page, const vault_owner_t *owner, apr_time_t now,
                               apr_interval_time_t idle)
{
    apr_status_t rv = vault_page_draw(page);

    return rv == APR_SUCCESS ? vault_page_create_drawn(p, page, owner, now, idle) : rv;
}
