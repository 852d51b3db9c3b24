/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file strategy.h
 * How a notify reaches the servers whose pages hold its interest, over one link. Internal to the gateway.
 *
 * link.c keeps what all strategies need: the connection, the outbox, heartbeats, and the check of all pages after a
 * lost link. A strategy guarantees: when it has settled an interest, each notify of it on another server reaches this
 * one, or all pages of this server check for changes.
 *
 * Threads: that of the link, except for `message`.
 */
#ifndef VAULT_GATEWAY_STRATEGY_H
#define VAULT_GATEWAY_STRATEGY_H

#include "gateway/link.h"

struct vault_strategy_t {
    const char *name; /* as in VaultClusterStrategy */

    /** The thread will start: make link->state. The function is NULL if none is needed. @return 0: there is no
     * memory */
    int (*start)(vault_link_t *l);
    /** The thread has ended. */
    void (*stop)(vault_link_t *l);

    /** The link is connected: subscribe. What is held is given after this. */
    void (*begin)(vault_link_t *l);

    /** A page or an output holds the interest.
     * @param mark  0, or set to what vault_link_settle_interests() is called with
     * @return 0: the link is lost */
    int (*held)(vault_link_t *l, vault_link_interest_t *interest, const char *name, apr_uint64_t *mark);

    /** No page and no output holds the interest any more. */
    void (*dropped)(vault_link_t *l, vault_link_interest_t *interest);

    /** An interest was notified on this server. @return 0: the link is lost, or there is no memory: it is tried again */
    int (*notify)(vault_link_t *l, const char *name);

    /** A message has come that is not for link.c. Any thread, several at once.
     * @param kind  of the subject, without the prefix */
    void (*message)(vault_link_t *l, const char *kind, const void *data, apr_size_t size);

    /** The engine has taken everything that was sent.
     * @param is_notified  all pages of this server were notified just now */
    void (*taken)(vault_link_t *l, int is_notified);

    /** Called in each round of the thread while the link is connected. NULL: there is nothing to do.
     * @return the time when it must be called again, if nothing else happens before */
    apr_time_t (*tick)(vault_link_t *l, apr_time_t now);
};

/** As in section 5 of the paper on Vault: an interest that is held is a subscription, a notify is a message to the
 * servers that subscribe to it. */
extern const vault_strategy_t vault_strategy_subscriptions;

/** Each notify is a message to all servers. */
extern const vault_strategy_t vault_strategy_broadcast;

/** ORE: a notify is a message to each server whose Bloom filter has its interest. */
extern const vault_strategy_t vault_strategy_filters;

#endif
