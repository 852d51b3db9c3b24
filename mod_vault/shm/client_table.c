/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file client_table.c
 * What each client uses, in the shared segment: counts that are raised, lowered and rebuilt, and the rate of its
 * notifies.
 *
 * client_table.h has the rules and client_rows.h the layout.
 */
#include "shm/client_table.h"

#include <string.h>

#include "apr_general.h"

#include "base/hash.h"
#include "shm/client_rows.h"

#define ROWS_SPARE 256 /* rows beyond two for each page */

/* ------------------------------------------------------------------- create */

static apr_uint64_t rows_of(const vault_limits_t *limits)
{
    return 2 * (apr_uint64_t)limits->pages + ROWS_SPARE;
}

static apr_uint64_t chains_of(const vault_limits_t *limits)
{
    apr_uint64_t count = 256;

    while (count < rows_of(limits)) {
        count *= 2;
    }
    return count;
}

apr_uint64_t vault_clients_space(const vault_limits_t *limits)
{
    return sizeof(vault_clients_header_t) + chains_of(limits) * sizeof(apr_uint32_t) +
           (rows_of(limits) + 1) * (sizeof(vault_row_t) + sizeof(vault_share_t)) + 256;
}

static void *carve(vault_segment_t *segment, apr_uint64_t size)
{
    return vault_segment_at(segment, vault_segment_carve(segment, size), size);
}

apr_status_t vault_clients_create(vault_clients_t **clients, vault_segment_t *segment, apr_pool_t *pool)
{
    const vault_limits_t *limits = vault_segment_limits(segment);
    vault_clients_t *c = apr_pcalloc(pool, sizeof(*c));
    apr_status_t rv;

    *clients = NULL;
    if (vault_clients_space(limits) > vault_segment_left(segment) || rows_of(limits) > APR_INT32_MAX) {
        return APR_ENOSPC;
    }
    c->capacity = (apr_uint32_t)rows_of(limits);
    c->chain_mask = (apr_uint32_t)(chains_of(limits) - 1);
    c->last_slot = limits->slots;
    c->header = carve(segment, sizeof(*c->header));
    c->chains = carve(segment, chains_of(limits) * sizeof(*c->chains));
    c->rows = carve(segment, (rows_of(limits) + 1) * sizeof(*c->rows));
    c->shares = carve(segment, (rows_of(limits) + 1) * sizeof(*c->shares));
    if (!c->header || !c->chains || !c->rows || !c->shares) {
        return APR_ENOSPC;
    }
    if ((rv = apr_generate_random_bytes((unsigned char *)&c->header->seed, sizeof(c->header->seed))) != APR_SUCCESS) {
        return rv;
    }
    *clients = c;
    return vault_lock_init(&c->header->lock);
}

vault_client_id_t vault_client_id(const vault_clients_t *c, const char *name)
{
    return vault_hash_id(c->header->seed, name);
}

/* ------------------------------------------------------------ take and give */

static void add_locked(vault_clients_t *c, apr_uint32_t index, vault_client_kind_t kind, apr_uint64_t amount)
{
    vault_row_t *row = &c->rows[index];

    vault_row_store(&row->held[kind], row->held[kind] + amount);
}

static apr_status_t take_locked(vault_clients_t *c, apr_uint32_t row, const vault_client_claim_t *claim)
{
    apr_uint64_t held = c->rows[row].held[claim->kind];

    if (claim->amount > claim->most || held > claim->most - claim->amount) {
        return APR_ENOSPC;
    }
    if (claim->kind >= VAULT_CLIENT_OF_SLOT) {
        return vault_share_add_locked(c, row, claim) ? APR_SUCCESS : APR_ENOMEM;
    }
    add_locked(c, row, claim->kind, claim->amount);
    return APR_SUCCESS;
}

static int is_valid(const vault_clients_t *c, vault_client_kind_t kind, unsigned slot)
{
    return kind < VAULT_CLIENT_OF_SLOT || (kind < VAULT_CLIENT_KINDS && slot >= 1 && slot <= c->last_slot);
}

apr_status_t vault_clients_take(vault_clients_t *c, vault_client_row_t *row, const vault_client_claim_t *claim)
{
    apr_uint32_t index;
    apr_status_t rv;

    *row = 0;
    if (!claim->id || !is_valid(c, claim->kind, claim->slot)) {
        return APR_EINVAL;
    }
    if (!claim->amount) {
        return APR_SUCCESS;
    }
    vault_clients_acquire(c);
    index = vault_row_find_locked(c, claim->id);
    if (!index) {
        index = vault_row_make_locked(c, claim->id);
    }
    rv = index ? take_locked(c, index, claim) : APR_ENOMEM;
    if (rv == APR_SUCCESS) {
        *row = index;
    }
    else if (index) {
        vault_row_settle_locked(c, index);
    }
    vault_lock_release(&c->header->lock);
    return rv;
}

void vault_clients_give(vault_clients_t *c, vault_client_row_t index, vault_client_kind_t kind, unsigned slot,
                        apr_uint64_t amount)
{
    vault_row_t *row = vault_row_at(c, index);

    if (!row || !is_valid(c, kind, slot)) {
        return;
    }
    vault_clients_acquire(c);
    if (row->id && kind >= VAULT_CLIENT_OF_SLOT) {
        vault_share_cut_locked(c, index, kind, slot, amount);
    }
    else if (row->id) {
        add_locked(c, index, kind, (apr_uint64_t)0 - vault_least(amount, row->held[kind]));
    }
    vault_row_settle_locked(c, index);
    vault_lock_release(&c->header->lock);
}

void vault_clients_slot_gone(vault_clients_t *c, unsigned slot)
{
    apr_uint32_t i, row;
    unsigned k;

    vault_clients_acquire(c);
    for (i = 1; i <= c->header->fresh_share; i++) {
        row = c->shares[i].slot == slot ? c->shares[i].row : 0;
        for (k = VAULT_CLIENT_OF_SLOT; vault_row_at(c, row) && k < VAULT_CLIENT_KINDS && c->shares[i].row; k++) {
            vault_share_cut_locked(c, row, (vault_client_kind_t)k, slot, APR_UINT64_MAX);
        }
        if (vault_row_at(c, row)) {
            vault_row_settle_locked(c, row);
        }
    }
    vault_lock_release(&c->header->lock);
}

/* --------------------------------------------------------------------- rate */

/* A leaky bucket in one word, `busy_until`: each admitted notify moves it on by one second divided by the rate. */
static int admit_locked(vault_row_t *row, unsigned per_second, apr_uint64_t now)
{
    apr_uint64_t share = APR_USEC_PER_SEC / per_second, busy = row->busy_until;

    /* a difference of more than a second means that the clock was set back */
    if (busy < now || busy - now > APR_USEC_PER_SEC) {
        busy = now;
    }
    if (busy + share > now + APR_USEC_PER_SEC) {
        return 0;
    }
    row->busy_until = busy + share;
    return 1;
}

int vault_clients_admit(vault_clients_t *c, vault_client_id_t id, unsigned per_second, apr_time_t now)
{
    apr_uint32_t index;
    int admitted = 0;

    vault_clients_acquire(c);
    index = vault_row_find_locked(c, id);
    if (!index && id && c->header->used < c->capacity / 2) {
        index = vault_row_make_locked(c, id);
    }
    if (index) {
        admitted = admit_locked(&c->rows[index], per_second, (apr_uint64_t)now);
    }
    vault_lock_release(&c->header->lock);
    return admitted;
}

void vault_clients_sweep(vault_clients_t *c, apr_time_t now)
{
    apr_uint32_t i;

    vault_clients_acquire(c);
    for (i = 1; i <= c->header->fresh_row; i++) {
        vault_row_t *row = &c->rows[i];

        if (row->busy_until &&
            (row->busy_until <= (apr_uint64_t)now || row->busy_until - (apr_uint64_t)now > APR_USEC_PER_SEC)) {
            row->busy_until = 0;
            vault_row_settle_locked(c, i);
        }
    }
    vault_lock_release(&c->header->lock);
}

/* ------------------------------------------------------------------ looking */

vault_client_row_t vault_clients_last(const vault_clients_t *c)
{
    return vault_row_load(&c->header->fresh_row);
}

apr_uint64_t vault_clients_has(vault_clients_t *c, vault_client_id_t id, vault_client_kind_t kind)
{
    const vault_row_t *row;
    apr_uint64_t held;

    vault_clients_acquire(c);
    row = vault_row_at(c, vault_row_find_locked(c, id));
    held = row && kind < VAULT_CLIENT_KINDS ? row->held[kind] : 0;
    vault_lock_release(&c->header->lock);
    return held;
}

apr_uint64_t vault_clients_row_has(const vault_clients_t *c, vault_client_row_t index, vault_client_kind_t kind)
{
    const vault_row_t *row = vault_row_at(c, index);

    return row && kind < VAULT_CLIENT_KINDS && vault_row_load(&row->id) ? vault_row_load(&row->held[kind]) : 0;
}

apr_uint32_t vault_clients_having(const vault_clients_t *c, vault_client_kind_t kind)
{
    apr_uint32_t i, n = 0, last = vault_clients_last(c);

    for (i = 1; i <= last; i++) {
        n += vault_clients_row_has(c, i, kind) != 0;
    }
    return n;
}

apr_uint32_t vault_clients_count(const vault_clients_t *c)
{
    return vault_row_load(&c->header->used);
}
