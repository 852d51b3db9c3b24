/* SPDX-License-Identifier: Apache-2.0 */
/* The answers of a page that are not acknowledged yet. Each was made from the base or from an earlier answer,
 * so they form a tree: a poll that asks again from the base makes a sibling of the lost answer, and a stream
 * makes a chain. One store sets or clears a slot of the array; the numbers in the states give the order. */
#include "page/page_record.h"

/* How many answers made from one state are kept: the newest, and the one before it for a poll that has been
 * superseded. */
#define SIBLINGS 2

static apr_uint64_t seq_of(vault_pages_t *p, vault_off_t block)
{
    return vault_state_seq(vault_heap_at(p->heap, block));
}

static apr_uint64_t from_of(vault_pages_t *p, vault_off_t block)
{
    return vault_state_from(vault_heap_at(p->heap, block));
}

vault_off_t *vault_page_chain_find(vault_pages_t *p, vault_page_record_t *rec, apr_uint64_t seq)
{
    unsigned i;

    if (rec->base && seq_of(p, rec->base) == seq) {
        return &rec->base;
    }
    for (i = 0; i < VAULT_PAGE_STAGED; i++) {
        if (rec->staged[i] && seq_of(p, rec->staged[i]) == seq) {
            return &rec->staged[i];
        }
    }
    return NULL;
}

unsigned vault_page_chain_list(vault_pages_t *p, const vault_page_record_t *rec, vault_off_t blocks[VAULT_PAGE_STAGED])
{
    unsigned i, k, n = 0;

    for (i = 0; i < VAULT_PAGE_STAGED; i++) {
        if (!rec->staged[i]) {
            continue;
        }
        for (k = n++; k && seq_of(p, blocks[k - 1]) < seq_of(p, rec->staged[i]); k--) {
            blocks[k] = blocks[k - 1];
        }
        blocks[k] = rec->staged[i];
    }
    return n;
}

/* Is the state number `to` an ancestor of the state number `seq`? Follows stored states only. */
static int goes_back(vault_pages_t *p, vault_page_record_t *rec, apr_uint64_t seq, apr_uint64_t to)
{
    const vault_off_t *place;

    while (seq > to && (place = vault_page_chain_find(p, rec, seq)) && place != &rec->base) {
        seq = from_of(p, *place);
    }
    return seq == to;
}

vault_off_t *vault_page_chain_first(vault_pages_t *p, vault_page_record_t *rec)
{
    vault_off_t *first = NULL, *place;
    apr_uint64_t seq = rec->head;

    while ((place = vault_page_chain_find(p, rec, seq)) && place != &rec->base && from_of(p, *place) < seq) {
        first = place;
        seq = from_of(p, *place);
    }
    return place == &rec->base ? first : NULL;
}

/* Decides first which answers stay, since the links lead through answers that are removed. */
void vault_page_chain_commit(vault_pages_t *p, vault_page_record_t *rec, vault_off_t *place)
{
    vault_off_t old = rec->base;
    apr_uint64_t seq = seq_of(p, *place);
    int stays[VAULT_PAGE_STAGED];
    unsigned i;

    for (i = 0; i < VAULT_PAGE_STAGED; i++) {
        stays[i] = rec->staged[i] && goes_back(p, rec, seq_of(p, rec->staged[i]), seq);
    }
    vault_store(&rec->base, *place);
    vault_store(place, 0);
    for (i = 0; i < VAULT_PAGE_STAGED; i++) {
        if (!stays[i]) {
            vault_page_record_free(p, rec, &rec->staged[i]);
        }
    }
    vault_page_record_free_block(p, rec, old);
}

/* The oldest answer that can be removed; NULL: none. With `siblings`, among those made from the head; otherwise
 * among those that are not ancestors of the head. */
static vault_off_t *oldest(vault_pages_t *p, vault_page_record_t *rec, int siblings)
{
    vault_off_t *found = NULL;
    unsigned i;

    for (i = 0; i < VAULT_PAGE_STAGED; i++) {
        vault_off_t *place = &rec->staged[i];
        if (!*place || (siblings ? from_of(p, *place) != rec->head : goes_back(p, rec, rec->head, seq_of(p, *place)))) {
            continue;
        }
        if (!found || seq_of(p, *place) < seq_of(p, *found)) {
            found = place;
        }
    }
    return found;
}

static unsigned count_siblings(vault_pages_t *p, const vault_page_record_t *rec)
{
    unsigned i, n = 0;

    for (i = 0; i < VAULT_PAGE_STAGED; i++) {
        n += rec->staged[i] && from_of(p, rec->staged[i]) == rec->head;
    }
    return n;
}

static vault_off_t *find_empty(vault_page_record_t *rec)
{
    unsigned i;

    for (i = 0; i < VAULT_PAGE_STAGED; i++) {
        if (!rec->staged[i]) {
            return &rec->staged[i];
        }
    }
    return NULL;
}

vault_off_t *vault_page_chain_room(vault_pages_t *p, vault_page_record_t *rec)
{
    vault_off_t *place = find_empty(rec), *goes = NULL;

    if (count_siblings(p, rec) >= SIBLINGS) {
        goes = oldest(p, rec, 1);
    }
    else if (!place) {
        goes = oldest(p, rec, 0);
    }
    if (goes) {
        vault_page_record_free(p, rec, goes);
    }
    return place ? place : goes;
}

int vault_page_chain_is_full(vault_pages_t *p, vault_page_record_t *rec)
{
    return !find_empty(rec) && !oldest(p, rec, 0);
}
