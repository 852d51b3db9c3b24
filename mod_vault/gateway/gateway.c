/* SPDX-License-Identifier: Apache-2.0 */
/* The gateway: a link to each engine. */
#include "gateway/gateway.h"

#include <string.h>

#include "gateway/link.h"
#include "gateway/strategy.h"

static const vault_strategy_t *const strategies[] = {&vault_strategy_subscriptions, &vault_strategy_broadcast, NULL};

struct vault_gateway_t {
    vault_link_t *links;
    unsigned count;
};

const vault_strategy_t *vault_strategy_named(const char *name)
{
    const vault_strategy_t *const *s = strategies;

    while (*s && strcmp((*s)->name, name)) {
        s++;
    }
    return *s;
}

int vault_strategy_is_for_routed(const vault_strategy_t *strategy)
{
    return strategy == &vault_strategy_broadcast;
}

apr_status_t vault_gateway_start(vault_gateway_t **gateway, const vault_gateway_options_t *options, apr_pool_t *pool)
{
    vault_gateway_t *g = apr_pcalloc(pool, sizeof(*g));
    const vault_hash_ring_t *ring;

    vault_exchange_set_engines(options->exchange, options->names);
    ring = vault_hash_ring_make(options->names, options->count, pool);
    g->links = apr_pcalloc(pool, options->count * sizeof(*g->links));
    while (g->count < options->count) {
        apr_status_t rv = vault_link_start(&g->links[g->count], options, ring, g->count, pool);
        if (rv != APR_SUCCESS) {
            vault_gateway_stop(g);
            return rv;
        }
        g->count++;
    }
    *gateway = g;
    return APR_SUCCESS;
}

void vault_gateway_stop(vault_gateway_t *g)
{
    unsigned i;

    for (i = 0; i < g->count; i++) {
        vault_link_ask_stop(&g->links[i]);
    }
    for (i = 0; i < g->count; i++) {
        vault_link_join(&g->links[i]);
    }
}
