/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file link.h
 * One link of the gateway: its subscriptions, and what it has published. Internal to the gateway; gateway.h has the
 * rules. Only the thread of the link uses what is not said to be atomic.
 */
#ifndef VAULT_GATEWAY_LINK_H
#define VAULT_GATEWAY_LINK_H

#include <pthread.h>

#include "gateway/gateway.h"
#include "gateway/hash_ring.h"
#include "gateway/peers.h"

/** A subscription for the interest of an index. */
typedef struct vault_link_sub_t {
    void *subscription; /* NULL: none */
    apr_uint64_t name;  /* the hash of the name */
    int is_settled;     /* the engine has taken it, and the interest was notified since */
} vault_link_sub_t;

typedef struct vault_link_t {
    const vault_gateway_options_t *options;
    const vault_hash_ring_t *ring;
    unsigned number;
    vault_engine_link_t *link;  /* NULL: not connected */
    apr_time_t opens_at;        /* when to try again */
    int has_said;               /* the log has a line that it cannot be opened */
    vault_counters_t *counters; /* of this child */
    apr_pool_t *pool;           /* of this thread, for one connection */
    apr_uint64_t seed;          /* of the hashes of names */
    char prefix[64];            /* of all subjects, with the final dot */
    pthread_t thread;
    int wake_fd;                /* written when one of the next two has changed */
    int is_lost;                /* atomic; the engine has said so */
    int stops;                  /* atomic; the thread ends */
    vault_link_sub_t *subs;     /* by index of the interest */
    vault_interest_t *settling; /* subscribed to, but not yet taken by the engine */
    unsigned settling_count, settling_room;
    vault_journal_at_t held_at; /* position in the journal of interests */
    vault_journal_at_t sent_at; /* position in the outbox up to which it was published */
    int is_dirty;               /* something was sent since the last flush */
    int owes_all;               /* all pages of this server are notified when the engine has taken everything */
    vault_peers_t peers;        /* has a lock of its own */
    apr_time_t beats_at;        /* the next heartbeat */
} vault_link_t;

/** What follows the prefix in the subject of an interest. */
#define VAULT_LINK_INTERESTS "i."
/** The most journal entries that are handled between two flushes, so that a flood of notifies does not delay the
 * subscriptions of pages. */
#define VAULT_LINK_BATCH 4096

/* ------------------------------------------------------------- link_interests.c */

/** Does the interest belong to the engine of this link? The interests that mod_vault makes for pages, sessions and
 * outputs of this server belong to none. */
int vault_link_has(const vault_link_t *link, const char *interest);

/** Subscribe to what is held now, and to nothing else. */
void vault_link_look_at_all(vault_link_t *link);

/** Do the same for the interests that have changed since. @return 1: there may be more */
int vault_link_follow_interests(vault_link_t *link);

/** The engine has taken all subscriptions: notify their interests on this server, unless all were notified. */
void vault_link_settle_interests(vault_link_t *link, int is_notified);

/** The link is closed, and its subscriptions with it. */
void vault_link_forget_interests(vault_link_t *link);

/* ----------------------------------------------------------------------- link.c */

/** Prepare and start the thread. @return APR_SUCCESS, or why not */
apr_status_t vault_link_start(vault_link_t *link, const vault_gateway_options_t *options, const vault_hash_ring_t *ring,
                              unsigned number, apr_pool_t *pool);

/** Ask the thread to end. */
void vault_link_ask_stop(vault_link_t *link);

/** Wait until it has ended. */
void vault_link_join(vault_link_t *link);

#endif
