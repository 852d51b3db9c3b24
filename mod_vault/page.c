/* SPDX-License-Identifier: Apache-2.0 */
/* What is done to a page while it lives: held interests, published, taken over, acknowledged, committed and staged states; its id. */
#include "page_record.h"

#include <string.h>

#include "apr_strings.h"

apr_status_t vault_page_hold(vault_pages_t *p, const vault_page_t *page, const char *name, vault_interest_t *interest,
                             apr_uint64_t *stamp)
{
    vault_page_record_t *rec = vault_page_record_lock_page(p, page);
    apr_status_t rv;

    if (!rec) {
        return APR_NOTFOUND;
    }
    rv = vault_page_record_hold(p, rec, name, interest, stamp);
    vault_lock_release(&rec->lock);
    return rv;
}

/* ------------------------------------------------------------------- states */

apr_status_t vault_page_publish(vault_pages_t *p, const vault_page_t *page, const vault_state_t *state)
{
    vault_off_t block = vault_page_record_store(p, state);
    vault_page_record_t *rec;

    if (!block) {
        return APR_ENOSPC;
    }
    if (!(rec = vault_page_record_lock_page(p, page)) || rec->base) {
        vault_heap_free(p->heap, block);
        if (rec) {
            vault_lock_release(&rec->lock);
        }
        return rec ? APR_EINVAL : APR_NOTFOUND;
    }
    vault_state_number(vault_heap_at(p->heap, block), 0);
    vault_store(&rec->base, block);
    vault_page_record_release_unnamed(p, rec);
    vault_notifier_notify_interest(p->notifier, rec->own, 0);
    vault_lock_release(&rec->lock);
    return APR_SUCCESS;
}

/* Is it the tab that has polled so far? Who does not say may be any. */
static int is_tab(const vault_page_record_t *rec, const apr_uint64_t tab[2])
{
    return !(tab[0] | tab[1]) || !(rec->tab[0] | rec->tab[1]) || (rec->tab[0] == tab[0] && rec->tab[1] == tab[1]);
}

/* Answer `which` arrived: what it staged is what the browser has now. */
static void commit_staged(vault_pages_t *p, vault_page_record_t *rec, int which)
{
    vault_off_t old = rec->base;

    vault_store(&rec->base, rec->staged[which]);
    vault_store(&rec->staged[which], 0);
    vault_page_record_free(p, &rec->staged[!which]);
    vault_heap_free(p->heap, old);
    vault_page_record_release_unnamed(p, rec);
}

/* What the browser's number says. */
static apr_status_t acknowledge(vault_pages_t *p, vault_page_record_t *rec, apr_uint64_t seq)
{
    int i;

    for (i = 0; i < 2; i++) {
        if (rec->staged[i] && vault_page_record_seq(p, rec->staged[i]) == seq) {
            commit_staged(p, rec, i);
            return APR_SUCCESS;
        }
    }
    return seq == (rec->base ? vault_page_record_seq(p, rec->base) : 0) ? APR_SUCCESS : APR_EMISMATCH;
}

static apr_status_t admit(vault_pages_t *p, vault_page_record_t *rec, const vault_take_t *take)
{
    if (!vault_page_record_is_of(p, rec, take->owner)) {
        return APR_EACCES;
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

/* Whoever has the page runs or waits on what it knows no more: from here it may change nothing, and is told. Nobody is when the last
 * poll has left: telling would wake the new one, for nothing. */
static void overtake(vault_pages_t *p, vault_page_record_t *rec, apr_time_t now)
{
    vault_store(&rec->fence, rec->fence + 1);
    if (rec->idle_since >= (apr_uint64_t)now) {
        vault_notifier_notify_interest(p->notifier, rec->own, 0);
    }
}

apr_status_t vault_page_take(vault_pages_t *p, const vault_page_t *page, const vault_take_t *take,
                             vault_ticket_t *ticket)
{
    vault_page_record_t *rec = vault_page_record_lock_page(p, page);
    apr_status_t rv;

    if (!rec) {
        return APR_NOTFOUND;
    }
    if ((rv = admit(p, rec, take)) == APR_SUCCESS) {
        ticket->page = *page;
        ticket->interest = rec->own;
        ticket->written = rec->written;
        ticket->redelivers = rec->staged[0] != 0;
        overtake(p, rec, take->now);
        vault_store(&rec->polled, 1);
        vault_store(&rec->idle_since, (apr_uint64_t)take->until);
        ticket->fence = rec->fence;
    }
    vault_lock_release(&rec->lock);
    return rv;
}

/* The one who commits has the acks to tell, and so the ticket: from two, one could say of the other's that they are told. */
apr_status_t vault_page_acknowledge(vault_pages_t *p, const vault_page_t *page, const vault_take_t *take,
                                    vault_ticket_t *ticket)
{
    vault_page_record_t *rec = vault_page_record_lock_page(p, page);
    vault_off_t before;
    apr_status_t rv;

    memset(ticket, 0, sizeof(*ticket));
    if (!rec) {
        return APR_NOTFOUND;
    }
    before = rec->base;
    rv = admit(p, rec, take);
    if (rec->base != before ||
        (rv == APR_SUCCESS && rec->base && vault_state_has_acks(vault_heap_at(p->heap, rec->base)))) {
        overtake(p, rec, take->now);
        ticket->page = *page;
        ticket->fence = rec->fence;
        ticket->interest = rec->own;
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

/* The record of the ticket's page, locked, if the ticket still counts. */
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

void vault_page_leave(vault_pages_t *p, const vault_ticket_t *ticket, apr_time_t now)
{
    vault_page_record_t *rec;

    if (lock_ticket(p, ticket, &rec) == APR_SUCCESS) {
        vault_store(&rec->idle_since, (apr_uint64_t)now);
        vault_lock_release(&rec->lock);
    }
}

apr_status_t vault_page_look(vault_pages_t *p, vault_ticket_t *ticket, vault_state_t **base, apr_pool_t *pool)
{
    vault_page_record_t *rec;
    apr_status_t rv = lock_ticket(p, ticket, &rec);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    ticket->written = rec->written;
    rv = APR_EAGAIN;
    if (rec->base) {
        *base = vault_page_record_read(p, rec->base, pool);
        rv = *base ? APR_SUCCESS : APR_EGENERAL;
    }
    vault_lock_release(&rec->lock);
    return rv;
}

void vault_page_settle(vault_pages_t *p, const vault_ticket_t *ticket)
{
    vault_page_record_t *rec;

    if (lock_ticket(p, ticket, &rec) == APR_SUCCESS) {
        if (rec->base) {
            vault_state_drop_acks(vault_heap_at(p->heap, rec->base));
        }
        vault_lock_release(&rec->lock);
    }
}

/* Publish `block` as the committed state, under the number of the one that it replaces. */
static void replace_base(vault_pages_t *p, vault_page_record_t *rec, vault_off_t block, vault_state_t *state)
{
    vault_off_t old = rec->base;

    state->seq = vault_page_record_seq(p, old);
    vault_state_number(vault_heap_at(p->heap, block), state->seq);
    vault_store(&rec->base, block);
    vault_heap_free(p->heap, old);
}

static void push_staged(vault_pages_t *p, vault_page_record_t *rec, vault_off_t block, vault_state_t *state)
{
    state->seq = ++rec->last_seq;
    vault_state_number(vault_heap_at(p->heap, block), state->seq);
    vault_page_record_free(p, &rec->staged[1]);
    vault_store(&rec->staged[1], rec->staged[0]);
    vault_store(&rec->staged[0], block);
}

static apr_status_t put_state(vault_pages_t *p, const vault_ticket_t *ticket, vault_state_t *state,
                              void (*put)(vault_pages_t *, vault_page_record_t *, vault_off_t, vault_state_t *))
{
    vault_off_t block = vault_page_record_store(p, state);
    vault_page_record_t *rec;
    apr_status_t rv;

    if (!block) {
        return APR_ENOSPC;
    }
    rv = lock_ticket(p, ticket, &rec);
    if (rv == APR_SUCCESS && (!rec->base || rec->written != ticket->written)) {
        rv = APR_EAGAIN;
        vault_lock_release(&rec->lock);
    }
    if (rv != APR_SUCCESS) {
        vault_heap_free(p->heap, block);
        return rv;
    }
    put(p, rec, block, state);
    vault_page_record_release_unnamed(p, rec);
    vault_lock_release(&rec->lock);
    return APR_SUCCESS;
}

apr_status_t vault_page_commit(vault_pages_t *p, const vault_ticket_t *ticket, vault_state_t *state)
{
    return put_state(p, ticket, state, replace_base);
}

apr_status_t vault_page_stage(vault_pages_t *p, const vault_ticket_t *ticket, vault_state_t *state)
{
    return put_state(p, ticket, state, push_staged);
}

/* ----------------------------------------------------------------------- id */

void vault_page_format(const vault_page_t *page, char id[VAULT_PAGE_ID_LEN + 1])
{
    apr_snprintf(id, VAULT_PAGE_ID_LEN + 1, "%016" APR_UINT64_T_HEX_FMT "%016" APR_UINT64_T_HEX_FMT "%08x", page->id[0],
                 page->id[1], page->index);
}

static int parse_hex(apr_uint64_t *value, const char *text, int digits)
{
    *value = 0;
    for (; digits > 0; digits--, text++) {
        int c = *text;
        if (c >= '0' && c <= '9') {
            c -= '0';
        }
        else if (c >= 'a' && c <= 'f') {
            c -= 'a' - 10;
        }
        else {
            return 0;
        }
        *value = *value << 4 | (apr_uint64_t)c;
    }
    return 1;
}

int vault_page_parse(vault_page_t *page, const char *id)
{
    apr_uint64_t index;

    if (!parse_hex(&page->id[0], id, 16) || !parse_hex(&page->id[1], id + 16, 16) || !parse_hex(&index, id + 32, 8) ||
        id[VAULT_PAGE_ID_LEN]) {
        return 0;
    }
    page->index = (apr_uint32_t)index;
    return 1;
}
