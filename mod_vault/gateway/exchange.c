/* SPDX-License-Identifier: Apache-2.0 */
/* Two journals, the lease of the gateway, and what one gateway leaves to the next. */
#include "gateway/exchange.h"

#include <string.h>

#include "apr_general.h"
#include "apr_strings.h"

#include "base/hash.h"
#include "base/now.h"

/* A reader that falls further behind looks at all interests, or has all servers check for changes. */
#define HELD_SIZE (256 * 1024)
#define OUTBOX_SIZE (1024 * 1024)

#define SEED_ENGINES APR_UINT64_C(0x7661756c74656e67)

typedef struct taken_t {
    apr_uint64_t engine;   /* the hash of its name; 0: none yet. The gateway only */
    vault_journal_at_t at; /* atomic */
} taken_t;

typedef struct shared_t {
    _Alignas(64) vault_lease_t owner;          /* atomic */
    taken_t taken[VAULT_EXCHANGE_LINKS];       /* in no order */
    char server[2 * sizeof(apr_uint64_t) + 1]; /* const */
    apr_time_t since;                          /* const */
    vault_peers_t peers;                       /* has a lock of its own */
} shared_t;

struct vault_exchange_t {
    vault_notifier_t *notifier;
    vault_journal_t *held, *outbox;
    shared_t *shared;
    unsigned links;
    taken_t *taken[VAULT_EXCHANGE_LINKS]; /* by link; in the process of the gateway */
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
    x->shared->since = vault_now();
    if ((rv = vault_peers_init(&x->shared->peers)) == APR_SUCCESS &&
        (rv = vault_journal_create(&x->held, segment, HELD_SIZE, links, pool)) == APR_SUCCESS &&
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

apr_time_t vault_exchange_since(const vault_exchange_t *x)
{
    return x->shared->since;
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

vault_peers_t *vault_exchange_peers(const vault_exchange_t *x)
{
    return &x->shared->peers;
}

/* ---------------------------------------------------------------------- lease */

int vault_exchange_claim(vault_exchange_t *x, unsigned slot)
{
    vault_lease_t mine = vault_slot_lease(x->notifier, slot);
    vault_lease_t owner = __atomic_load_n(&x->shared->owner, __ATOMIC_SEQ_CST);

    if (!mine || (owner && !vault_lease_is_expired(x->notifier, owner))) {
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

    return owner && !vault_lease_is_expired(x->notifier, owner) ? (unsigned)(owner >> 32) : 0;
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

/* ---------------------------------------------------------------------- taken */

static apr_uint64_t engine_of(const char *name)
{
    apr_uint64_t hash = vault_hash_text(SEED_ENGINES, name);

    return hash ? hash : 1;
}

static taken_t *find_taken(const vault_exchange_t *x, apr_uint64_t engine)
{
    unsigned i;

    for (i = 0; i < x->links; i++) {
        if (x->shared->taken[i].engine == engine) {
            return &x->shared->taken[i];
        }
    }
    return NULL;
}

static int is_one_of(apr_uint64_t engine, const char *const *names, unsigned count)
{
    unsigned i;

    for (i = 0; i < count && engine_of(names[i]) != engine; i++) {
    }
    return i < count;
}

/* A child that is killed here leaves lower positions, or only some of the names: the next gateway completes them. */
static void replace_engines(vault_exchange_t *x, const char *const *names)
{
    taken_t *taken = x->shared->taken;
    vault_journal_at_t lowest = taken[0].at;
    unsigned i, next = 0;

    for (i = 1; i < x->links; i++) {
        lowest = taken[i].at < lowest ? taken[i].at : lowest;
    }
    for (i = 0; i < x->links; i++) {
        __atomic_store_n(&taken[i].at, lowest, __ATOMIC_SEQ_CST);
    }
    for (i = 0; i < x->links; i++) {
        if (is_one_of(taken[i].engine, names, x->links)) {
            continue;
        }
        while (find_taken(x, engine_of(names[next]))) {
            next++;
        }
        __atomic_store_n(&taken[i].engine, engine_of(names[next]), __ATOMIC_SEQ_CST);
    }
}

void vault_exchange_set_engines(vault_exchange_t *x, const char *const *names)
{
    int is_first = !x->shared->taken[0].engine, is_same = 1;
    unsigned i;

    for (i = 0; i < x->links; i++) {
        is_same &= find_taken(x, engine_of(names[i])) != NULL;
    }
    if (!is_same) {
        if (!is_first) {
            vault_exchange_notified_all(x);
        }
        replace_engines(x, names);
    }
    for (i = 0; i < x->links; i++) {
        x->taken[i] = find_taken(x, engine_of(names[i]));
    }
}

vault_journal_at_t vault_exchange_taken(const vault_exchange_t *x, unsigned link)
{
    return __atomic_load_n(&x->taken[link]->at, __ATOMIC_SEQ_CST);
}

void vault_exchange_set_taken(vault_exchange_t *x, unsigned link, vault_journal_at_t at)
{
    __atomic_store_n(&x->taken[link]->at, at, __ATOMIC_SEQ_CST);
}
