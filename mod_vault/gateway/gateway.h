/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file gateway.h
 * Passes notifies between this server and others, by notification engines (engine.h).
 *
 * Each interest belongs to one engine (hash_ring.h). There is a thread for each engine. It subscribes to the interests
 * of its engine that are held on this server, and publishes what is notified here. A message of the engine notifies the
 * interest on this server.
 *
 * Nothing is lost, for these reasons:
 *
 *   - A page may have read its data before the engine knew of the subscription. So when the engine has taken it
 *     (flush() has returned), the interest is notified on this server once more.
 *   - A notify stays in the outbox until the engine has taken it. After a lost link it is published again.
 *   - While a link is lost, messages for this server are lost. So when it is up again, all pages of this server are
 *     notified. The same happens when the engine says that it has dropped messages, and when another server has been
 *     silent for VAULT_GATEWAY_SILENCE: it may have died between the commit of a change and its notify. And when another
 *     server is heard for the first time, or again after it was silent: a server that was cut off for longer may have
 *     been notified meanwhile, have died, and have been started again.
 *   - If notifies were overwritten in the outbox, all pages of all servers are notified. The same happens when a
 *     gateway knows other engines than the one before: an interest may now belong to another engine.
 *
 * Threads: one thread at a time starts and stops the gateway. The gateway's threads call `say`.
 */
#ifndef VAULT_GATEWAY_H
#define VAULT_GATEWAY_H

#include "gateway/exchange.h"
#include "mod_vault/engine.h"

typedef struct vault_gateway_t vault_gateway_t;
typedef struct vault_strategy_t vault_strategy_t; /* strategy.h */

/** The strategy of this name; NULL: there is none. */
const vault_strategy_t *vault_strategy_named(const char *name);

/** Its name, as in VaultClusterStrategy. */
const char *vault_strategy_name(const vault_strategy_t *strategy);

/** Does it work with engines that belong to a routed cluster? There flush() says nothing of the other engines. */
int vault_strategy_is_for_routed(const vault_strategy_t *strategy);

#define VAULT_GATEWAY_HEARTBEAT apr_time_from_sec(1)
#define VAULT_GATEWAY_SILENCE apr_time_from_sec(3)

/** Events that an administrator wants to know of, for the log. */
typedef enum vault_gateway_event_t {
    VAULT_GATEWAY_UP,       /* the link is connected */
    VAULT_GATEWAY_LOST,     /* it is not, and cannot be now; `why` */
    VAULT_GATEWAY_DROPPED,  /* the engine has dropped messages */
    VAULT_GATEWAY_OVERRUN,  /* notifies were overwritten before the engine had taken them */
    VAULT_GATEWAY_STRANGER, /* another server has another version, strategy or other engines; `why` names it */
    VAULT_GATEWAY_SILENT,   /* another server is silent; `why` names it */
    VAULT_GATEWAY_EVENTS    /* how many there are */
} vault_gateway_event_t;

typedef struct vault_gateway_options_t {
    vault_exchange_t *exchange;
    vault_notifier_t *notifier;
    unsigned slot; /* of this child */
    const vault_strategy_t *strategy;
    const vault_engine_t *engine;
    const vault_engine_options_t *links; /* one for each engine */
    const char *const *names;            /* of the engines: the same on all servers, without passwords */
    unsigned count;                      /* of links */
    const char *space;                   /* the first token of all subjects: servers with another one are not reached */
    const char *server;                  /* identifies this server, the same in all its children */
    apr_interval_time_t stops_within;    /* how long vault_gateway_stop() waits */
    void (*look)(vault_facts_t *facts);  /* of this server, for the others */
    void (*say)(vault_gateway_event_t event, const char *engine, const char *why);
} vault_gateway_options_t;

/** Start the threads. They connect by themselves. The child has the lease of the exchange.
 * @param options  and what it points to stays valid until the stop
 * @return APR_SUCCESS; or why no thread can be started */
apr_status_t vault_gateway_start(vault_gateway_t **gateway, const vault_gateway_options_t *options, apr_pool_t *pool);

/** Ask the threads to end. They publish what is in the outbox, if that is possible within a second. The last of them
 * lets another child be the gateway. Does not wait. */
void vault_gateway_ask_stop(vault_gateway_t *gateway);

/** The same, and wait until they have ended.
 * @return 1: they have; 0: an engine holds one of them up for longer than `stops_within`. It may still use the pool and
 *         the options. The caller may try again */
int vault_gateway_stop(vault_gateway_t *gateway);

#endif
