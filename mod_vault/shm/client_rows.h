/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file client_rows.h
 * The layout of the client table in the segment. Internal: for client_table.c, client_rows.c and their tests.
 *
 * Few words are primary: the id and the counts of a row; the row, the slot and the counts of a share. The others (hash
 * chains, lists, sums, free lists) are derived from them. If a process died while it held the lock, the next owner
 * rebuilds all that is derived. Therefore the id of a row is written last when the row is made, and cleared first when
 * it is freed. The same holds for a share and the number of its row.
 *
 * A row has a share only for those slots that count something for the client, since prefork has hundreds of slots.
 */
#ifndef VAULT_CLIENT_ROWS_H
#define VAULT_CLIENT_ROWS_H

#include "shm/client_table.h"
#include "shm/lock.h"

/** Kinds that belong to a slot. */
#define VAULT_SLOT_KINDS (VAULT_CLIENT_KINDS - VAULT_CLIENT_OF_SLOT)

typedef struct vault_row_t {
    apr_uint64_t id; /* lock; primary; 0: free */
    /* lock; atomic; primary; for kinds that belong to a slot: the sum of the shares */
    apr_uint64_t held[VAULT_CLIENT_KINDS];
    apr_uint64_t busy_until; /* lock; primary; microseconds; 0: it has not notified for a second */
    apr_uint32_t next;       /* lock; derived: the next of its chain, or of the free rows */
    apr_uint32_t shares;     /* lock; derived: the first of its shares */
} vault_row_t;

typedef struct vault_share_t {
    apr_uint64_t held[VAULT_SLOT_KINDS]; /* lock; primary */
    apr_uint32_t row;                    /* lock; primary; 0: free */
    apr_uint32_t slot;                   /* lock; primary */
    apr_uint32_t next;                   /* lock; derived: the next of its row, or of the free shares */
} vault_share_t;

typedef struct vault_clients_header_t {
    _Alignas(64) vault_lock_t lock;
    apr_uint64_t seed;        /* const after create; of the clients' ids, secret */
    apr_uint32_t used;        /* lock; atomic; derived: rows in use */
    apr_uint32_t fresh_row;   /* lock; atomic; primary: rows never used begin after this one */
    apr_uint32_t fresh_share; /* lock; primary: shares never used begin after this one */
    apr_uint32_t free_row;    /* lock; derived: the first free row; 0: none */
    apr_uint32_t free_share;  /* lock; derived */
} vault_clients_header_t;

struct vault_clients_t {
    vault_clients_header_t *header;
    apr_uint32_t *chains;  /* lock; derived: the first row of each */
    vault_row_t *rows;     /* 1..capacity; 0 is not used */
    vault_share_t *shares; /* 1..capacity; 0 is not used */
    apr_uint32_t capacity;
    apr_uint32_t chain_mask;
    apr_uint32_t last_slot;
};

#define vault_row_load(p) __atomic_load_n((p), __ATOMIC_SEQ_CST)
#define vault_row_store(p, v) __atomic_store_n((p), (v), __ATOMIC_SEQ_CST)

/** The row of an index; NULL for 0 and for an index beyond the table. */
static inline vault_row_t *vault_row_at(const vault_clients_t *c, apr_uint32_t index)
{
    return index && index <= c->capacity ? &c->rows[index] : NULL;
}

/** The share of an index; NULL for 0 and for an index beyond the table. */
static inline vault_share_t *vault_share_at(const vault_clients_t *c, apr_uint32_t index)
{
    return index && index <= c->capacity ? &c->shares[index] : NULL;
}

static inline apr_uint64_t vault_least(apr_uint64_t a, apr_uint64_t b)
{
    return a < b ? a : b;
}

/** Take the lock. If its last owner died, rebuild all that is derived. */
void vault_clients_acquire(vault_clients_t *c);

/** The client's row; 0: it has none. */
apr_uint32_t vault_row_find_locked(const vault_clients_t *c, vault_client_id_t id);

/** Make a row, which holds nothing yet, for a client that has none. @return 0: all rows are taken */
apr_uint32_t vault_row_make_locked(vault_clients_t *c, vault_client_id_t id);

int vault_row_is_empty(const vault_row_t *row);

/** Free the row if it holds nothing. */
void vault_row_settle_locked(vault_clients_t *c, apr_uint32_t index);

/** Raise what the slot has for the row, and the row's sum with it. @return 0: all shares are in use, and nothing was
 * done */
int vault_share_add_locked(vault_clients_t *c, apr_uint32_t row, const vault_client_claim_t *claim);

/** Lower the count of the slot and the sum of the row, but not below 0. A share that is then empty is freed. */
void vault_share_cut_locked(vault_clients_t *c, apr_uint32_t row, vault_client_kind_t kind, unsigned slot,
                            apr_uint64_t amount);

#endif
