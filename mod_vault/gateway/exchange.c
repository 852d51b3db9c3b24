/* SPDX-License-Identifier: Apache-2.0 */
/* Two journals, the lease of the gateway, and its figures. */
#include "gateway/exchange.h"

#include <string.h>

#include "apr_general.h"
#include "apr_strings.h"

/* A reader that falls further behind looks at all interests, or has all servers check for changes. */
#define HELD_SIZE (256 * 1024)
#define OUTBOX_SIZE (1024 * 1024)

typedef struct shared_t {
    _Alignas(64) vault_lease_t owner;               /* atomic */
    vault_journal_at_t taken[VAULT_EXCHANGE_LINKS]; /* atomic, each */
    char server[2 * sizeof(apr_uint64_t) + 1];      /* const */
} shared_t;

struct vault_exchange_t {
    vault_notifier_t *notifier;
    vault_journal_t *held, *outbox;
    shared_t *shared;
    unsigned links;
};

apr_uint64_t vault_exchange_space(void)
{
    return vault_journal_space(HELD_SIZE) + vault_journal_space(OUTBOX_SIZE) + sizeof(shared_t) + 128;
}

apr_status_t vault_exchange_create(vault_exchange_t **exchange, vault_segment_t *segment, vault_notifier_t *notifier,
                                   unsigned links, apr_pool_t *pool)
{
    vault_exchange_t *x = apr_pcalloc(pool, sizeof(*x));
    apr_status_t rv;

    apr_uint64_t name;

    *exchange = NULL;
    x->notifier = notifier;
    x->links = links;
    x->shared = vault_segment_at(segment, vault_segment_carve(segment, sizeof(shared_t)), sizeof(shared_t));
    if (!x->shared) {
        return APR_ENOSPC;
    }
    if ((rv = apr_generate_random_bytes((unsigned char *)&name, sizeof(name))) != APR_SUCCESS) {
        return rv;
    }
    apr_snprintf(x->shared->server, sizeof(x->shared->server), "%016" APR_UINT64_T_HEX_FMT, name);
    if ((rv = vault_journal_create(&x->held, segment, HELD_SIZE, links, pool)) == APR_SUCCESS &&
        (rv = vault_journal_create(&x->outbox, segment, OUTBOX_SIZE, links, pool)) == APR_SUCCESS) {
        vault_notifier_report_to(notifier, x->held);
        *exchange = x;
    }
    return rv;
}

unsigned vault_exchange_links(const vault_exchange_t *x)
{
    return x->links;
}

const char *vault_exchange_server(const vault_exchange_t *x)
{
    return x->shared->server;
}

int vault_exchange_crosses(const char *interest)
{
    static const char *const prefixes[] = {"page:", "session:", "vault-output:", NULL};
    const char *const *prefix;

    for (prefix = prefixes; *prefix; prefix++) {
        if (!strncmp(interest, *prefix, strlen(*prefix))) {
            return 0;
        }
    }
    return 1;
}

void vault_exchange_notified(vault_exchange_t *x, const char *interest)
{
    if (vault_exchange_crosses(interest)) {
        vault_journal_append(x->outbox, interest, (apr_uint32_t)strlen(interest));
    }
}

void vault_exchange_notified_all(vault_exchange_t *x)
{
    vault_journal_append(x->outbox, "", 1);
}

/* ---------------------------------------------------------------------- lease */

int vault_exchange_claim(vault_exchange_t *x, unsigned slot)
{
    vault_lease_t mine = vault_slot_lease(x->notifier, slot);
    vault_lease_t owner = __atomic_load_n(&x->shared->owner, __ATOMIC_SEQ_CST);

    if (!mine || (owner && !vault_lease_is_void(x->notifier, owner))) {
        return owner && owner == mine;
    }
    return __atomic_compare_exchange_n(&x->shared->owner, &owner, mine, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void vault_exchange_yield(vault_exchange_t *x, unsigned slot)
{
    vault_lease_t mine = vault_slot_lease(x->notifier, slot);

    __atomic_compare_exchange_n(&x->shared->owner, &mine, 0, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

unsigned vault_exchange_owner(const vault_exchange_t *x)
{
    vault_lease_t owner = __atomic_load_n(&x->shared->owner, __ATOMIC_SEQ_CST);

    return owner && !vault_lease_is_void(x->notifier, owner) ? (unsigned)(owner >> 32) : 0;
}

/* ------------------------------------------------------------------- journals */

vault_journal_t *vault_exchange_held(const vault_exchange_t *x)
{
    return x->held;
}

vault_journal_t *vault_exchange_outbox(const vault_exchange_t *x)
{
    return x->outbox;
}

vault_journal_at_t vault_exchange_taken(const vault_exchange_t *x, unsigned link)
{
    return __atomic_load_n(&x->shared->taken[link], __ATOMIC_SEQ_CST);
}

void vault_exchange_set_taken(vault_exchange_t *x, unsigned link, vault_journal_at_t at)
{
    __atomic_store_n(&x->shared->taken[link], at, __ATOMIC_SEQ_CST);
}
