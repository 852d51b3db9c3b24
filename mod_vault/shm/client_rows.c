/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of clients and the shares of slots: lookup, allocation, repair and checks. client_rows.h describes
 * the layout. */
#include "shm/client_rows.h"

#include <string.h>

/* --------------------------------------------------------------------- rows */

static apr_uint32_t *chain_of(const vault_clients_t *c, vault_client_id_t id)
{
    return &c->chains[id & c->chain_mask];
}

/* The link to the row of this client: the head of its chain, or the field `next` of the row before. If the
 * client has no row, the link at the end of the chain. */
static apr_uint32_t *link_of(const vault_clients_t *c, vault_client_id_t id)
{
    apr_uint32_t *link = chain_of(c, id), steps = 0;
    vault_row_t *row;

    while ((row = vault_row_at(c, *link)) && row->id != id && steps++ < c->capacity) {
        link = &row->next;
    }
    return link;
}

apr_uint32_t vault_row_find_locked(const vault_clients_t *c, vault_client_id_t id)
{
    apr_uint32_t index = *link_of(c, id);
    const vault_row_t *row = vault_row_at(c, index);

    return row && row->id == id ? index : 0;
}

static void chain_locked(vault_clients_t *c, apr_uint32_t index)
{
    vault_row_t *row = &c->rows[index];
    apr_uint32_t *chain = chain_of(c, row->id);

    row->next = *chain;
    *chain = index;
    vault_row_store(&c->header->used, c->header->used + 1);
}

apr_uint32_t vault_row_make_locked(vault_clients_t *c, vault_client_id_t id)
{
    apr_uint32_t index = c->header->free_row;
    vault_row_t *row = vault_row_at(c, index);

    if (row) {
        c->header->free_row = row->next;
    }
    else if (c->header->fresh_row < c->capacity) {
        index = c->header->fresh_row + 1;
        row = &c->rows[index];
        vault_row_store(&c->header->fresh_row, index);
    }
    else {
        return 0;
    }
    memset(row->held, 0, sizeof(row->held));
    row->busy_until = 0;
    row->shares = 0;
    vault_row_store(&row->id, id);
    chain_locked(c, index);
    return index;
}

int vault_row_is_empty(const vault_row_t *row)
{
    unsigned kind;

    for (kind = 0; kind < VAULT_CLIENT_KINDS; kind++) {
        if (row->held[kind]) {
            return 0;
        }
    }
    return !row->busy_until;
}

void vault_row_settle_locked(vault_clients_t *c, apr_uint32_t index)
{
    vault_row_t *row = &c->rows[index];
    apr_uint32_t *link;

    if (!row->id || !vault_row_is_empty(row)) {
        return;
    }
    link = link_of(c, row->id);
    if (*link == index) {
        *link = row->next;
    }
    vault_row_store(&row->id, 0);
    row->next = c->header->free_row;
    c->header->free_row = index;
    vault_row_store(&c->header->used, c->header->used - 1);
}

/* ------------------------------------------------------------------- shares */

/* The link to the share of this slot, or the link at the end of the row's list. */
static apr_uint32_t *share_link_of(const vault_clients_t *c, vault_row_t *row, unsigned slot)
{
    apr_uint32_t *link = &row->shares, steps = 0;
    vault_share_t *share;

    while ((share = vault_share_at(c, *link)) && share->slot != slot && steps++ < c->capacity) {
        link = &share->next;
    }
    return link;
}

/* @return NULL: all shares are in use */
static vault_share_t *make_share_locked(vault_clients_t *c, apr_uint32_t row, unsigned slot)
{
    apr_uint32_t index = c->header->free_share;
    vault_share_t *share = vault_share_at(c, index);

    if (share) {
        c->header->free_share = share->next;
    }
    else if (c->header->fresh_share < c->capacity) {
        index = c->header->fresh_share + 1;
        share = &c->shares[index];
        vault_row_store(&c->header->fresh_share, index);
    }
    else {
        return NULL;
    }
    memset(share->held, 0, sizeof(share->held));
    share->slot = slot;
    share->next = c->rows[row].shares;
    vault_row_store(&share->row, row);
    c->rows[row].shares = index;
    return share;
}

static int share_is_empty(const vault_share_t *share)
{
    unsigned k;

    for (k = 0; k < VAULT_SLOT_KINDS; k++) {
        if (share->held[k]) {
            return 0;
        }
    }
    return 1;
}

/* Removes a share from the list of its row. Its contents are void. */
static void drop_share_locked(vault_clients_t *c, apr_uint32_t *link)
{
    apr_uint32_t index = *link;
    vault_share_t *share = &c->shares[index];

    *link = share->next;
    vault_row_store(&share->row, 0);
    share->next = c->header->free_share;
    c->header->free_share = index;
}

int vault_share_add_locked(vault_clients_t *c, apr_uint32_t row, const vault_client_claim_t *claim)
{
    vault_share_t *share = vault_share_at(c, *share_link_of(c, &c->rows[row], claim->slot));
    apr_uint64_t *held = &c->rows[row].held[claim->kind];

    if (!share && !(share = make_share_locked(c, row, claim->slot))) {
        return 0;
    }
    share->held[claim->kind - VAULT_CLIENT_OF_SLOT] += claim->amount;
    vault_row_store(held, *held + claim->amount);
    return 1;
}

void vault_share_cut_locked(vault_clients_t *c, apr_uint32_t row, vault_client_kind_t kind, unsigned slot,
                            apr_uint64_t amount)
{
    apr_uint32_t *link = share_link_of(c, &c->rows[row], slot);
    vault_share_t *share = vault_share_at(c, *link);
    apr_uint64_t *held = &c->rows[row].held[kind];

    if (!share) {
        return;
    }
    amount = vault_least(amount, share->held[kind - VAULT_CLIENT_OF_SLOT]);
    share->held[kind - VAULT_CLIENT_OF_SLOT] -= amount;
    vault_row_store(held, *held - vault_least(amount, *held));
    if (share_is_empty(share)) {
        drop_share_locked(c, link);
    }
}

/* ------------------------------------------------------------------- repair */

static void repair_rows_locked(vault_clients_t *c)
{
    apr_uint32_t i;

    memset(c->chains, 0, ((apr_size_t)c->chain_mask + 1) * sizeof(*c->chains));
    c->header->used = 0;
    c->header->free_row = 0;
    for (i = 1; i <= c->header->fresh_row; i++) {
        vault_row_t *row = &c->rows[i];

        row->shares = 0;
        memset(&row->held[VAULT_CLIENT_OF_SLOT], 0, VAULT_SLOT_KINDS * sizeof(row->held[0]));
        if (row->id) {
            chain_locked(c, i);
            continue;
        }
        row->next = c->header->free_row;
        c->header->free_row = i;
    }
}

static void repair_shares_locked(vault_clients_t *c)
{
    apr_uint32_t i;
    unsigned k;

    c->header->free_share = 0;
    for (i = 1; i <= c->header->fresh_share; i++) {
        vault_share_t *share = &c->shares[i];
        vault_row_t *row = vault_row_at(c, share->row);

        if (!row || !row->id || share_is_empty(share)) {
            share->row = 0;
            share->next = c->header->free_share;
            c->header->free_share = i;
            continue;
        }
        for (k = 0; k < VAULT_SLOT_KINDS; k++) {
            row->held[VAULT_CLIENT_OF_SLOT + k] += share->held[k];
        }
        share->next = row->shares;
        row->shares = i;
    }
}

/* No process announces changes of data under this lock, so the death of its owner loses no notify. The parent
 * learns of the death itself (slot.h). */
void vault_clients_acquire(vault_clients_t *c)
{
    apr_uint32_t i;

    if (!vault_lock_acquire(&c->header->lock)) {
        return;
    }
    repair_rows_locked(c);
    repair_shares_locked(c);
    for (i = 1; i <= c->header->fresh_row; i++) {
        vault_row_settle_locked(c, i); /* a row under construction has nothing yet */
    }
}

/* -------------------------------------------------------------------- check */

static const char *check_shares_locked(const vault_clients_t *c, apr_uint32_t index, apr_uint32_t *listed)
{
    const vault_row_t *row = &c->rows[index];
    apr_uint64_t sums[VAULT_SLOT_KINDS] = {0};
    apr_uint32_t i;
    unsigned k;

    for (i = row->shares; i; i = c->shares[i].next) {
        const vault_share_t *share = vault_share_at(c, i);

        if (!share || share->row != index || ++*listed > c->header->fresh_share) {
            return "a client's list of shares leads to another client";
        }
        for (k = 0; k < VAULT_SLOT_KINDS; k++) {
            sums[k] += share->held[k];
        }
    }
    return memcmp(sums, &row->held[VAULT_CLIENT_OF_SLOT], sizeof(sums))
               ? "the counts of a client are not the sums of its shares"
               : NULL;
}

static const char *check_locked(const vault_clients_t *c)
{
    apr_uint32_t i, used = 0, unused = 0, listed = 0;
    const char *wrong = NULL;

    for (i = 1; i <= c->header->fresh_row && !wrong; i++) {
        if (!c->rows[i].id) {
            continue;
        }
        used++;
        if (vault_row_find_locked(c, c->rows[i].id) != i) {
            return "a client is not in its chain";
        }
        wrong = vault_row_is_empty(&c->rows[i]) ? "a client has a row and nothing in it"
                                                : check_shares_locked(c, i, &listed);
    }
    for (i = c->header->free_row; vault_row_at(c, i) && !c->rows[i].id && unused <= c->capacity; i = c->rows[i].next) {
        unused++;
    }
    if (!wrong && (used != c->header->used || used + unused != c->header->fresh_row || i)) {
        wrong = "the free rows of clients are not those that are left";
    }
    for (i = c->header->free_share; vault_share_at(c, i) && !c->shares[i].row && listed <= c->capacity;
         i = c->shares[i].next) {
        listed++;
    }
    return wrong                                   ? wrong
           : listed != c->header->fresh_share || i ? "the free shares of clients are not those that are left"
                                                   : NULL;
}

const char *vault_clients_check(vault_clients_t *c)
{
    const char *wrong;

    vault_clients_acquire(c);
    wrong = check_locked(c);
    vault_lock_release(&c->header->lock);
    return wrong;
}
