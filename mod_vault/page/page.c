/* SPDX-License-Identifier: Apache-2.0 */
/* The operations on a page while it exists: hold interests, publish, take over, acknowledge, commit and stage
 * states; and its id. */
#include "page/page_record.h"

#include <string.h>

#include "apr_strings.h"

#include "base/hex.h"
#include "base/now.h"

apr_status_t vault_page_hold(vault_pages_t *p, const vault_page_t *page, const char *name, vault_interest_t *interest,
                             apr_uint64_t *stamp)
{
    vault_eviction_t eviction = {.asks = page->index, .now = vault_now()};
    vault_page_record_t *rec;
    vault_dep_t held = {0, 0};
    apr_status_t rv;

    do {
        if (!(rec = vault_page_record_lock_page(p, page))) {
            return APR_NOTFOUND;
        }
        rv = vault_page_record_hold(p, rec, name, &held, &eviction);
        vault_lock_release(&rec->lock);
    } while (rv == APR_ENOSPC && vault_evict_page(p, &eviction));
    *interest = held.interest;
    *stamp = held.stamp;
    return rv;
}

/* ------------------------------------------------------------------- states */

static apr_status_t publish_locked(vault_pages_t *p, vault_page_record_t *rec, const vault_state_t *state,
                                   vault_eviction_t *eviction)
{
    vault_off_t block;

    if (rec->base) {
        return APR_EINVAL;
    }
    if (!(block = vault_page_record_store(p, rec, state, eviction))) {
        return APR_ENOSPC;
    }
    vault_state_number(vault_heap_at(p->heap, block), 0, 0);
    vault_store(&rec->base, block);
    vault_page_record_release_unnamed(p, rec);
    vault_notifier_notify_interest(p->notifier, rec->own, 0);
    return APR_SUCCESS;
}

apr_status_t vault_page_publish(vault_pages_t *p, const vault_page_t *page, const vault_state_t *state)
{
    vault_eviction_t eviction = {.asks = page->index, .now = vault_now()};
    vault_page_record_t *rec;
    apr_status_t rv;

    do {
        if (!(rec = vault_page_record_lock_page(p, page))) {
            return APR_NOTFOUND;
        }
        rv = publish_locked(p, rec, state, &eviction);
        vault_lock_release(&rec->lock);
    } while (rv == APR_ENOSPC && vault_evict_page(p, &eviction));
    return rv;
}

/* Is it the same tab as in earlier polls? A poll without a nonce matches any tab. */
static int is_tab(const vault_page_record_t *rec, const apr_uint64_t tab[2])
{
    return !(tab[0] | tab[1]) || !(rec->tab[0] | rec->tab[1]) || (rec->tab[0] == tab[0] && rec->tab[1] == tab[1]);
}

static apr_uint64_t committed_seq(vault_pages_t *p, const vault_page_record_t *rec)
{
    return rec->base ? vault_page_record_seq(p, rec->base) : 0;
}

/* Acknowledges the answer with the number that the browser has sent. */
static apr_status_t acknowledge(vault_pages_t *p, vault_page_record_t *rec, apr_uint64_t seq)
{
    vault_off_t *place;

    if (seq == VAULT_PAGE_LATEST) {
        seq = rec->streams ? rec->head : committed_seq(p, rec);
    }
    place = vault_page_chain_find(p, rec, seq);
    if (place && place != &rec->base) {
        vault_page_chain_commit(p, rec, place);
    }
    return place || (!rec->base && !seq) ? APR_SUCCESS : APR_EMISMATCH;
}

static apr_status_t admit(vault_pages_t *p, vault_page_record_t *rec, const vault_take_t *take)
{
    apr_status_t rv = vault_page_record_admits(p, rec, &take->owner);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (!is_tab(rec, take->tab)) {
        return APR_EMISMATCH;
    }
    if (acknowledge(p, rec, take->seq) != APR_SUCCESS) {
        return APR_EMISMATCH;
    }
    if (take->tab[0] | take->tab[1]) {
        rec->tab[0] = take->tab[0];
        rec->tab[1] = take->tab[1];
    }
    return APR_SUCCESS;
}

/* A page is not polled when its last poll has left it, or the child of that poll has died. */
static int is_polled(const vault_pages_t *p, const vault_page_record_t *rec, apr_time_t now)
{
    return rec->idle_since >= (apr_uint64_t)now && !vault_lease_is_expired(p->notifier, rec->lease);
}

int vault_page_is_polled(vault_pages_t *p, const vault_page_t *page, apr_time_t now)
{
    vault_page_record_t *rec = vault_page_record_lock_page(p, page);
    int polled;

    if (!rec) {
        return 0;
    }
    polled = is_polled(p, rec, now);
    vault_lock_release(&rec->lock);
    return polled;
}

/* Takes the page from the poll that has it. That poll runs or waits on outdated knowledge: from here on it can
 * change nothing, and it is woken. If no poll has the page, a notify would only wake the new poll for nothing.
 * @param before  the base before this request */
static void overtake(vault_pages_t *p, vault_page_record_t *rec, vault_off_t before, apr_time_t now)
{
    vault_store(&rec->fence, rec->fence + 1);
    vault_page_record_void_run(p, rec);
    if (is_polled(p, rec, now)) {
        vault_notifier_notify_interest(p->notifier, rec->own, 0);
    }
    /* before it is published, its view may hold some interests */
    if (rec->base && (rec->base != before || rec->streams)) {
        vault_page_record_release_unnamed(p, rec); /* those of a stream were released when it was acknowledged */
    }
    rec->streams = 0;
    rec->head = committed_seq(p, rec);
}

static void fill_in(vault_pages_t *p, const vault_page_record_t *rec, const vault_page_t *page, vault_ticket_t *ticket)
{
    ticket->page = *page;
    ticket->fence = rec->fence;
    ticket->written = rec->written;
    ticket->committed = committed_seq(p, rec);
    ticket->interest = rec->own;
}

apr_status_t vault_page_take(vault_pages_t *p, const vault_page_t *page, const vault_take_t *take,
                             vault_ticket_t *ticket)
{
    vault_page_record_t *rec = vault_page_record_lock_page(p, page);
    vault_off_t staged[VAULT_PAGE_STAGED], before;
    apr_status_t rv;

    if (!rec) {
        return APR_NOTFOUND;
    }
    before = rec->base;
    if ((rv = admit(p, rec, take)) == APR_SUCCESS) {
        overtake(p, rec, before, take->now);
        fill_in(p, rec, page, ticket);
        ticket->redelivers = vault_page_chain_list(p, rec, staged) != 0;
        vault_store(&rec->polled, 1);
        vault_store(&rec->lease, vault_slot_lease(p->notifier, p->slot));
        vault_store(&rec->idle_since, (apr_uint64_t)take->until);
    }
    vault_lock_release(&rec->lock);
    return rv;
}

/* Is there a stream that continues from what now is the base? Then the stream reports the acknowledgements. */
static int is_streams_own(vault_pages_t *p, vault_page_record_t *rec, apr_time_t now)
{
    return rec->streams && is_polled(p, rec, now) && vault_page_chain_find(p, rec, rec->head);
}

/* The request that commits also reports the acknowledgements, so it gets the ticket. With two reporters, one
 * could mark the other's as reported. */
apr_status_t vault_page_acknowledge(vault_pages_t *p, const vault_page_t *page, const vault_take_t *take,
                                    vault_ticket_t *ticket)
{
    vault_page_record_t *rec = vault_page_record_lock_page(p, page);
    vault_off_t before;
    apr_status_t rv;
    int was_full, owes;

    memset(ticket, 0, sizeof(*ticket));
    if (!rec) {
        return APR_NOTFOUND;
    }
    before = rec->base;
    was_full = vault_page_chain_is_full(p, rec);
    rv = admit(p, rec, take);
    owes = rv == APR_SUCCESS && rec->base && vault_state_has_acks(vault_heap_at(p->heap, rec->base));
    if (rv == APR_SUCCESS && is_streams_own(p, rec, take->now)) {
        if (owes || was_full) {
            vault_notifier_notify_interest(p->notifier, rec->own, 0);
        }
    }
    else if (rec->base != before || owes) {
        overtake(p, rec, before, take->now);
        fill_in(p, rec, page, ticket);
    }
    vault_lock_release(&rec->lock);
    return rv;
}

int vault_page_superseded(vault_pages_t *p, const vault_ticket_t *ticket)
{
    const vault_page_record_t *rec = &p->records[ticket->page.index];

    return !vault_page_record_is(rec, &ticket->page) || vault_load(&rec->fence) != ticket->fence;
}

int vault_page_rewritten(vault_pages_t *p, const vault_ticket_t *ticket)
{
    return vault_load(&p->records[ticket->page.index].written) != ticket->written;
}

/* Lock the record of the ticket's page, if the ticket is still valid. */
static apr_status_t lock_ticket(vault_pages_t *p, const vault_ticket_t *ticket, vault_page_record_t **rec)
{
    *rec = vault_page_record_lock_page(p, &ticket->page);
    if (!*rec) {
        return APR_NOTFOUND;
    }
    if ((*rec)->fence != ticket->fence) {
        vault_lock_release(&(*rec)->lock);
        return APR_ECONNABORTED;
    }
    return APR_SUCCESS;
}

void vault_page_stay(vault_pages_t *p, const vault_ticket_t *ticket, apr_time_t until)
{
    vault_page_record_t *rec;

    if (lock_ticket(p, ticket, &rec) == APR_SUCCESS) {
        vault_store(&rec->idle_since, (apr_uint64_t)until);
        vault_lock_release(&rec->lock);
    }
}

void vault_page_leave(vault_pages_t *p, const vault_ticket_t *ticket, apr_time_t now)
{
    vault_page_stay(p, ticket, now);
}

apr_status_t vault_page_stream(vault_pages_t *p, const vault_ticket_t *ticket)
{
    vault_page_record_t *rec;
    apr_status_t rv = lock_ticket(p, ticket, &rec);

    if (rv == APR_SUCCESS) {
        rec->streams = 1;
        vault_lock_release(&rec->lock);
    }
    return rv;
}

void vault_page_assume(vault_pages_t *p, const vault_ticket_t *ticket, int all)
{
    vault_page_record_t *rec;
    vault_off_t *place;

    if (lock_ticket(p, ticket, &rec) != APR_SUCCESS) {
        return;
    }
    place = !rec->streams ? NULL : all ? vault_page_chain_find(p, rec, rec->head) : vault_page_chain_first(p, rec);
    if (place && place != &rec->base) {
        vault_page_chain_commit(p, rec, place);
    }
    vault_lock_release(&rec->lock);
}

static apr_status_t read_state(vault_pages_t *p, const vault_off_t *place, vault_state_t **state, apr_pool_t *pool)
{
    if (!place || !*place) {
        return APR_EAGAIN;
    }
    *state = vault_page_record_read(p, *place, pool);
    return *state ? APR_SUCCESS : APR_EGENERAL;
}

apr_status_t vault_page_read_base(vault_pages_t *p, vault_ticket_t *ticket, vault_state_t **base, apr_pool_t *pool)
{
    vault_page_record_t *rec;
    apr_status_t rv = lock_ticket(p, ticket, &rec);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    ticket->heard = vault_interest_stamp(p->notifier, rec->own);
    ticket->written = rec->written;
    ticket->committed = committed_seq(p, rec);
    ticket->owes = rec->base && vault_state_has_acks(vault_heap_at(p->heap, rec->base));
    ticket->full = rec->streams && vault_page_chain_is_full(p, rec);
    rv = read_state(p, vault_page_chain_find(p, rec, rec->head), base, pool);
    vault_lock_release(&rec->lock);
    return rv;
}

apr_status_t vault_page_committed(vault_pages_t *p, vault_ticket_t *ticket, vault_state_t **base, apr_pool_t *pool)
{
    vault_page_record_t *rec;
    apr_status_t rv = lock_ticket(p, ticket, &rec);

    if (rv == APR_SUCCESS) {
        ticket->committed = committed_seq(p, rec);
        rv = read_state(p, &rec->base, base, pool);
        vault_lock_release(&rec->lock);
    }
    return rv;
}

void vault_page_acks_reported(vault_pages_t *p, const vault_ticket_t *ticket)
{
    vault_page_record_t *rec;

    if (lock_ticket(p, ticket, &rec) == APR_SUCCESS) {
        if (rec->base && committed_seq(p, rec) == ticket->committed) {
            vault_state_drop_acks(vault_heap_at(p->heap, rec->base));
        }
        vault_lock_release(&rec->lock);
    }
}

/* Replaces the state that the poll continues from by `block`, under the same number. */
static apr_status_t replace_head(vault_pages_t *p, vault_page_record_t *rec, vault_off_t block, vault_state_t *state)
{
    vault_off_t *place = vault_page_chain_find(p, rec, rec->head), old;

    if (!place) {
        return APR_EAGAIN;
    }
    old = *place;
    state->seq = rec->head;
    vault_state_number(vault_heap_at(p->heap, block), rec->head, vault_state_from(vault_heap_at(p->heap, old)));
    vault_store(place, block);
    vault_page_record_free_block(p, rec, old);
    return APR_SUCCESS;
}

static apr_status_t stage_on_tip(vault_pages_t *p, vault_page_record_t *rec, vault_off_t block, vault_state_t *state)
{
    apr_uint64_t seq = rec->last_seq + 1 + rec->gap;
    vault_off_t *place;

    if (seq - rec->head > APR_UINT32_MAX) {
        return APR_NOTFOUND; /* many servers have had the page, and none of their answers has arrived (state.h) */
    }
    if (!(place = vault_page_chain_room(p, rec))) {
        return APR_EAGAIN;
    }
    state->seq = rec->last_seq = seq;
    rec->gap = 0;
    vault_state_number(vault_heap_at(p->heap, block), state->seq, rec->head);
    vault_store(place, block);
    if (rec->streams) {
        rec->head = state->seq;
    }
    return APR_SUCCESS;
}

typedef apr_status_t put_t(vault_pages_t *, vault_page_record_t *, vault_off_t, vault_state_t *);

static apr_status_t put_locked(vault_pages_t *p, vault_page_record_t *rec, vault_state_t *state, put_t *put,
                               vault_eviction_t *eviction)
{
    vault_off_t block = vault_page_record_store(p, rec, state, eviction);
    apr_status_t rv = block ? put(p, rec, block, state) : APR_ENOSPC;

    if (rv == APR_SUCCESS) {
        vault_page_record_release_unnamed(p, rec);
    }
    else {
        vault_page_record_free_block(p, rec, block);
    }
    return rv;
}

static apr_status_t put_state(vault_pages_t *p, const vault_ticket_t *ticket, vault_state_t *state, put_t *put)
{
    vault_eviction_t eviction = {.asks = ticket->page.index, .now = vault_now()};
    vault_page_record_t *rec;
    apr_status_t rv;

    do {
        if ((rv = lock_ticket(p, ticket, &rec)) != APR_SUCCESS) {
            return rv;
        }
        rv = rec->base && rec->written == ticket->written ? put_locked(p, rec, state, put, &eviction) : APR_EAGAIN;
        vault_lock_release(&rec->lock);
    } while (rv == APR_ENOSPC && vault_evict_page(p, &eviction));
    return rv;
}

apr_status_t vault_page_commit(vault_pages_t *p, const vault_ticket_t *ticket, vault_state_t *state)
{
    return put_state(p, ticket, state, replace_head);
}

apr_status_t vault_page_stage(vault_pages_t *p, const vault_ticket_t *ticket, vault_state_t *state)
{
    return put_state(p, ticket, state, stage_on_tip);
}

/* ----------------------------------------------------------------------- id */

/* apr_snprintf() takes ten times as long, and a view of a live page needs its id four times. */
static char *write_hex(char *text, apr_uint64_t value, int digits)
{
    int i;

    for (i = digits - 1; i >= 0; i--) {
        text[i] = "0123456789abcdef"[value & 15];
        value >>= 4;
    }
    return text + digits;
}

void vault_page_format(const vault_page_t *page, char id[VAULT_PAGE_ID_LEN + 1])
{
    id = write_hex(id, page->id[0], 16);
    id = write_hex(id, page->id[1], 16);
    id = write_hex(id, page->key, 8);
    *id = '\0';
}

/* An id has one spelling, without capital letters. */
static int parse_hex(apr_uint64_t *value, const char *text, int digits)
{
    *value = 0;
    for (; digits > 0; digits--, text++) {
        int digit = vault_hex_value(*text);

        if (digit < 0 || (*text >= 'A' && *text <= 'F')) {
            return 0;
        }
        *value = *value << 4 | (apr_uint64_t)digit;
    }
    return 1;
}

int vault_page_parse(vault_page_t *page, const char *id)
{
    apr_uint64_t key;

    if (!parse_hex(&page->id[0], id, 16) || !parse_hex(&page->id[1], id + 16, 16) || !parse_hex(&key, id + 32, 8) ||
        id[VAULT_PAGE_ID_LEN]) {
        return 0;
    }
    page->key = (apr_uint32_t)key;
    page->index = 0;
    return 1;
}
