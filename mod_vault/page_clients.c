/* SPDX-License-Identifier: Apache-2.0 */
/* How many pages each client has. A client is 32 bits of a hash, counted in two places, so that one who shares a place with somebody
 * greedy hardly ever shares both.
 */
#include "page_record.h"

static unsigned place(apr_uint32_t client, int row)
{
    return (row ? client >> 16 : client) % VAULT_CLIENT_PLACES;
}

apr_uint32_t vault_page_clients_pages(const vault_pages_t *p, apr_uint32_t client)
{
    apr_uint32_t a = vault_load(&p->clients->count[0][place(client, 0)]);
    apr_uint32_t b = vault_load(&p->clients->count[1][place(client, 1)]);

    return !client ? 0 : a < b ? a : b;
}

apr_status_t vault_page_count_client(vault_pages_t *p, const vault_page_t *page, apr_uint32_t client, apr_uint32_t most)
{
    vault_page_record_t *rec = vault_page_record_lock_page(p, page);
    int row;

    if (!rec) {
        return APR_NOTFOUND;
    }
    if (vault_page_clients_pages(p, client) >= most) {
        vault_lock_release(&rec->lock);
        return APR_ENOSPC;
    }
    for (row = 0; row < 2; row++) {
        __atomic_add_fetch(&p->clients->count[row][place(client, row)], 1, __ATOMIC_SEQ_CST);
    }
    vault_store(&rec->client, client);
    vault_lock_release(&rec->lock);
    return APR_SUCCESS;
}

/* Never below zero: a sweep may have set it right meanwhile. */
static void take_one(apr_uint32_t *count)
{
    apr_uint32_t now = vault_load(count);

    while (now && !__atomic_compare_exchange_n(count, &now, now - 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
}

void vault_page_clients_leave(vault_pages_t *p, apr_uint32_t client)
{
    int row;

    for (row = 0; client && row < 2; row++) {
        take_one(&p->clients->count[row][place(client, row)]);
    }
}

void vault_page_clients_add(vault_page_clients_t *counts, apr_uint32_t client)
{
    int row;

    for (row = 0; client && row < 2; row++) {
        counts->count[row][place(client, row)]++;
    }
}

/* A page that came or went while it was counted may be wrong by one until the next sweep. */
void vault_page_clients_set(vault_pages_t *p, const vault_page_clients_t *counts)
{
    int row, i;

    for (row = 0; row < 2; row++) {
        for (i = 0; i < VAULT_CLIENT_PLACES; i++) {
            if (vault_load(&p->clients->count[row][i]) != counts->count[row][i]) {
                vault_store(&p->clients->count[row][i], counts->count[row][i]);
            }
        }
    }
}
