/* SPDX-License-Identifier: Apache-2.0 */
/* The gateway: a link to each engine. */
#include "gateway/gateway.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "gateway/link.h"
#include "gateway/strategy.h"

static const vault_strategy_t *const strategies[] = {&vault_strategy_subscriptions, &vault_strategy_broadcast,
                                                     &vault_strategy_filters, NULL};

struct vault_gateway_t {
    const vault_gateway_options_t *options;
    vault_link_t *links;
    unsigned count;
    vault_link_count_t running;
};

const vault_strategy_t *vault_strategy_named(const char *name)
{
    const vault_strategy_t *const *s = strategies;

    while (*s && strcmp((*s)->name, name)) {
        s++;
    }
    return *s;
}

const char *vault_strategy_name(const vault_strategy_t *strategy)
{
    return strategy->name;
}

int vault_strategy_is_for_routed(const vault_strategy_t *strategy)
{
    return strategy == &vault_strategy_broadcast;
}

static void init_count(vault_link_count_t *running)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&running->ended, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&running->lock, NULL);
}

apr_status_t vault_gateway_start(vault_gateway_t **gateway, const vault_gateway_options_t *options, apr_pool_t *pool)
{
    vault_gateway_t *g = apr_pcalloc(pool, sizeof(*g));
    const vault_hash_ring_t *ring;

    g->options = options;
    init_count(&g->running);
    vault_exchange_set_engines(options->exchange, options->names);
    ring = vault_hash_ring_make(options->names, options->count, pool);
    g->links = apr_pcalloc(pool, options->count * sizeof(*g->links));
    while (g->count < options->count) {
        apr_status_t rv = vault_link_start(&g->links[g->count], options, ring, g->count, &g->running, pool);
        if (rv != APR_SUCCESS) {
            vault_gateway_stop(g);
            return rv;
        }
        g->count++;
    }
    *gateway = g;
    return APR_SUCCESS;
}

void vault_gateway_ask_stop(vault_gateway_t *g)
{
    unsigned i;

    for (i = 0; i < g->count; i++) {
        vault_link_ask_stop(&g->links[i]);
    }
}

/* @return 1: no thread runs */
static int wait_for_end(vault_link_count_t *running, apr_interval_time_t most)
{
    struct timespec until;
    int error = 0, has_ended;

    clock_gettime(CLOCK_MONOTONIC, &until);
    most += until.tv_nsec / 1000;
    until.tv_sec += most / APR_USEC_PER_SEC;
    until.tv_nsec = most % APR_USEC_PER_SEC * 1000;
    pthread_mutex_lock(&running->lock);
    while (running->threads && error != ETIMEDOUT) {
        error = pthread_cond_timedwait(&running->ended, &running->lock, &until);
    }
    has_ended = !running->threads;
    pthread_mutex_unlock(&running->lock);
    return has_ended;
}

int vault_gateway_stop(vault_gateway_t *g)
{
    vault_gateway_ask_stop(g);
    if (!wait_for_end(&g->running, g->options->stops_within)) {
        return 0;
    }
    while (g->count) {
        vault_link_join(&g->links[--g->count]);
    }
    return 1;
}
