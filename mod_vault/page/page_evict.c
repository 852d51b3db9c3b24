/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page_evict.c
 * Which pages are evicted when memory, page slots or interests run out.
 *
 * The fair share of a client is the capacity of the resource, divided by the number of clients that use it. A page is
 * idle if no poll has asked for it for VAULT_PAGE_EVICTABLE, and alive otherwise. The module evicts in this order:
 *   1. Pages of the clients that have more than their fair share, the client with the most first. Of each client,
 *      first the idle pages that were never polled, then the other idle pages, then the pages that are alive. It
 *      evicts the last only if the client that asks stays within its own fair share.
 *   2. Idle pages of all other clients: first those that were never polled, then those of the client that has the
 *      most.
 *
 * Among equals the module evicts the page that has been idle for longest. So a client with more than its fair share
 * never evicts another client's page that is alive, and a client within its fair share never loses one.
 *
 * A client at its own limit loses only its own pages, and none that is alive.
 *
 * If the table is full, one scan evicts several idle pages that were never polled: otherwise each view would scan the
 * whole table, as long as visitors come who never poll.
 *
 * A session is alive for VAULT_PAGE_EVICTABLE after a request, and rests after that: its browser may come back at any
 * time. So of one client a resting session goes after the idle pages, and for another session only, if the client is
 * at its own limit. Of a client within its fair share it goes last of all, and only for a session whose client stays
 * within its own. If there are as many sessions as there may be, only sessions go.
 */
#include "page/page_record.h"

#include <string.h>

/* How many pages one attempt evicts, and how often it scans the table, at most. */
#define EVICTED_MAX 256
#define SCANS_MAX 32
/* If the table is full, one attempt evicts up to this part of it. */
#define AT_ONCE 128

typedef enum { NEVER_POLLED, IDLE, RESTING, LIVING } life_t;

/* A page that may be evicted, and its rank. */
typedef struct candidate_t {
    vault_victim_t victim;
    int over; /* its client has more than its fair share */
    life_t life;
    apr_uint64_t has; /* how much of the resource its client uses */
    apr_uint64_t idle_since;
} candidate_t;

/* The parameters of one scan over all pages. */
typedef struct scan_t {
    vault_pages_t *p;
    vault_eviction_t *eviction;
    apr_uint64_t share;
    int is_within; /* the client that needs memory stays within its share */
} scan_t;

void vault_eviction_need(vault_eviction_t *eviction, const vault_page_record_t *rec, vault_client_kind_t kind,
                         apr_uint64_t amount, int own)
{
    if (eviction) {
        if (eviction->kind != kind || eviction->own != own) {
            eviction->next = eviction->count; /* the candidates were for another resource */
        }
        eviction->lacks = 1;
        eviction->client = rec ? rec->client : eviction->client;
        eviction->kind = kind;
        eviction->amount = amount;
        eviction->own = own;
    }
}

static apr_uint64_t capacity(const vault_pages_t *p, vault_client_kind_t kind)
{
    return kind == VAULT_CLIENT_PAGES      ? p->max
           : kind == VAULT_CLIENT_SESSIONS ? p->limits.sessions
           : kind == VAULT_CLIENT_BYTES    ? vault_heap_size(p->heap)
                                           : vault_notifier_interests(p->notifier);
}

static void begin_scan(scan_t *s, vault_pages_t *p, vault_eviction_t *eviction)
{
    apr_uint64_t has = eviction->client ? vault_clients_has(p->clients, eviction->client, eviction->kind) : 0;
    apr_uint32_t clients = vault_clients_having(p->clients, eviction->kind) + !has;

    s->p = p;
    s->eviction = eviction;
    s->share = capacity(p, eviction->kind) / (clients ? clients : 1);
    s->share += !s->share; /* as many clients as records: each may have one */
    s->is_within = eviction->client && !eviction->own && has + eviction->amount <= s->share;
}

static life_t life_of(const vault_page_record_t *rec, apr_time_t now)
{
    if (!vault_page_is_idle(rec, now, VAULT_PAGE_EVICTABLE)) {
        return LIVING;
    }
    return vault_record_is_session(rec) ? RESTING : vault_load(&rec->polled) ? IDLE : NEVER_POLLED;
}

/* May a page or session of that client go, which is in that state of life? */
static int may_go(const scan_t *s, const candidate_t *c, vault_client_id_t client)
{
    int for_session = s->eviction->kind_asks == VAULT_RECORD_SESSION;

    if (s->eviction->own) {
        return client == s->eviction->client && (c->life < RESTING || (c->life == RESTING && for_session));
    }
    switch (c->life) {
    case LIVING:
        return c->over && s->is_within && client != s->eviction->client;
    case RESTING:
        return c->over || (for_session && s->is_within);
    default:
        return 1;
    }
}

/* @return 1: the page may be evicted */
static int is_candidate(const scan_t *s, apr_uint32_t index, candidate_t *c)
{
    const vault_page_record_t *rec = &s->p->records[index];
    vault_client_id_t client = vault_load(&rec->client);

    if (s->eviction->own && client != s->eviction->client) {
        return 0;
    }
    if (index == s->eviction->asks || !vault_page_record_at(s->p, index, &c->victim.page) ||
        (s->eviction->kind == VAULT_CLIENT_SESSIONS && !vault_record_is_session(rec))) {
        return 0;
    }
    c->has = vault_clients_row_has(s->p->clients, vault_load(&rec->row), s->eviction->kind);
    c->over = c->has > s->share;
    c->life = life_of(rec, s->eviction->now);
    c->idle_since = vault_load(&rec->idle_since);
    c->victim.lives = c->life == LIVING;
    c->victim.unpolled = c->life == NEVER_POLLED;
    return may_go(s, c, client);
}

static int goes_before(const candidate_t *a, const candidate_t *b)
{
    if (a->over != b->over) {
        return a->over;
    }
    if (a->over && a->has != b->has) {
        return a->has > b->has;
    }
    if (a->life != b->life) {
        return a->life < b->life;
    }
    if (a->has != b->has) {
        return a->has > b->has;
    }
    return a->idle_since < b->idle_since;
}

/* Inserts `c` into the list of the VAULT_EVICTION_VICTIMS pages to be evicted first, in that order. */
static void keep_first(candidate_t *list, unsigned *count, const candidate_t *c)
{
    unsigned i = *count;

    if (i == VAULT_EVICTION_VICTIMS) {
        if (!goes_before(c, &list[--i])) {
            return;
        }
    }
    else {
        (*count)++;
    }
    for (; i && goes_before(c, &list[i - 1]); i--) {
        list[i] = list[i - 1];
    }
    list[i] = *c;
}

static void list_victims(vault_pages_t *p, vault_eviction_t *eviction)
{
    candidate_t list[VAULT_EVICTION_VICTIMS], c;
    apr_uint32_t i, last = vault_pages_last(p);
    scan_t s;

    begin_scan(&s, p, eviction);
    eviction->share = s.share;
    eviction->next = eviction->count = 0;
    for (i = 1; i <= last; i++) {
        if (is_candidate(&s, i, &c)) {
            keep_first(list, &eviction->count, &c);
        }
    }
    for (i = 0; i < eviction->count; i++) {
        eviction->victims[i] = list[i].victim;
    }
}

/* Earlier evictions may have reduced the client to its fair share. Then its pages that are alive stay. */
static int may_go_still(vault_pages_t *p, const vault_eviction_t *eviction, const vault_victim_t *victim)
{
    vault_client_row_t row = vault_load(&p->records[victim->page.index].row);

    return !victim->lives || vault_clients_row_has(p->clients, row, eviction->kind) > eviction->share;
}

/* @return whether the next victim went */
static int drop_next(vault_pages_t *p, vault_eviction_t *eviction)
{
    const vault_victim_t *victim = &eviction->victims[eviction->next++];

    if (!may_go_still(p, eviction, victim) || !vault_page_drop_victim(p, victim, eviction->now, VAULT_PAGE_EVICTABLE)) {
        return 0;
    }
    eviction->evicted++;
    vault_count(vault_slot_counters(p->notifier, p->slot), pages_evicted, 1);
    return 1;
}

static int drop_one(vault_pages_t *p, vault_eviction_t *eviction)
{
    while (eviction->next < eviction->count) {
        if (drop_next(p, eviction)) {
            return 1;
        }
    }
    return 0;
}

/* The next views find free records. */
static void drop_ahead(vault_pages_t *p, vault_eviction_t *eviction)
{
    apr_uint32_t n = eviction->kind == VAULT_CLIENT_PAGES && !eviction->own ? p->max / AT_ONCE : 0;

    for (; n > 1 && eviction->next < eviction->count && eviction->victims[eviction->next].unpolled; n--) {
        drop_next(p, eviction);
    }
}

int vault_evict_page(vault_pages_t *p, vault_eviction_t *eviction)
{
    unsigned scans;

    if (!eviction->lacks || eviction->evicted >= EVICTED_MAX) {
        return 0;
    }
    eviction->lacks = 0;
    for (scans = 0; scans < SCANS_MAX; scans++) {
        if (drop_one(p, eviction)) {
            drop_ahead(p, eviction);
            return 1;
        }
        list_victims(p, eviction);
        if (!eviction->count) {
            return 0;
        }
    }
    return 0;
}
