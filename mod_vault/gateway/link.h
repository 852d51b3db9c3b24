/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file link.h
 * One link of the gateway: what is held on this server, and what it has published. Internal to the gateway; gateway.h
 * has the rules. Only the thread of the link uses fields that are not marked as atomic.
 */
#ifndef VAULT_GATEWAY_LINK_H
#define VAULT_GATEWAY_LINK_H

#include <pthread.h>

#include "gateway/gateway.h"
#include "gateway/hash_ring.h"
#include "gateway/reasons.h"

/** The threads of a gateway that run. */
typedef struct vault_link_count_t {
    pthread_mutex_t lock;
    pthread_cond_t ended; /* `threads` is 0 */
    unsigned threads;     /* lock */
} vault_link_count_t;

/** The interest of an index, if it is held on this server. */
typedef struct vault_link_interest_t {
    union {
        void *subscription;
        apr_uint64_t hash;
    } of;              /* the strategy */
    apr_uint64_t name; /* the hash of the name */
    int is_held;       /* the strategy has it */
    int is_settled;    /* no notify of it is missed any more, and it was notified on this server since */
} vault_link_interest_t;

/** An interest that is held, but not settled yet. */
typedef struct vault_link_settling_t {
    vault_interest_t interest;
    apr_uint64_t mark; /* of the strategy; it never falls */
} vault_link_settling_t;

typedef struct vault_link_t {
    const vault_gateway_options_t *options;
    const vault_strategy_t *strategy;
    void *state; /* of the strategy */
    const vault_hash_ring_t *ring;
    unsigned number;
    vault_engine_link_t *link;  /* NULL: not connected */
    apr_time_t opens_at;        /* when to try again */
    vault_reasons_t reasons;    /* why it cannot be opened */
    vault_counters_t *counters; /* of this child */
    apr_pool_t *pool;           /* of this thread, for one connection */
    apr_uint64_t seed;          /* of the hashes of names */
    char prefix[64];            /* of all subjects, with the final dot */
    pthread_t thread;
    int wake_fd; /* written when one of the next two has changed */
    int is_lost; /* atomic; the engine has said so */
    int stops;   /* atomic; the thread ends */
    vault_link_count_t *running;
    vault_link_interest_t *interests; /* by index */
    vault_link_settling_t *settling;
    unsigned settling_count, settling_room;
    vault_journal_at_t held_at; /* position in the journal of interests */
    vault_journal_at_t sent_at; /* position in the outbox up to which it was published */
    int is_dirty;               /* something was sent since the last flush */
    int owes_all;               /* all pages of this server are notified when the engine has taken everything */
    apr_time_t beats_at;        /* the next heartbeat */
    apr_time_t answers_since;   /* the engine has answered each flush since; 0: it did not answer the last one */
    apr_time_t ticks_at;        /* when the strategy has something to do */
} vault_link_t;

/** The most journal entries that are handled between two flushes, so that a flood of notifies does not delay the
 * subscriptions of pages. */
#define VAULT_LINK_BATCH 4096

/* ------------------------------------------------------------- link_interests.c */

/** Does the interest belong to the engine of this link? The interests that mod_vault makes for pages, sessions and
 * outputs of this server belong to none. */
int vault_link_has(const vault_link_t *link, const char *interest);

/** Give the strategy the interests that are held now, and take back all others. */
void vault_link_look_at_all(vault_link_t *link);

/** Give the strategy the interests that are held since the last call of this or of vault_link_look_at_all(), and take
 * back those that are not held any more. @return 1: there may be more */
int vault_link_follow_interests(vault_link_t *link);

/** The interests with marks up to this one are settled: notify them on this server, unless all were notified. */
void vault_link_settle_interests(vault_link_t *link, apr_uint64_t mark, int is_notified);

/** The link is closed, and the subscriptions of the strategy with it: forget them. */
void vault_link_forget_interests(vault_link_t *link);

/* ------------------------------------------------------- link_outbox.c: for strategies */

/** Receive the messages of PREFIX.KIND. */
void vault_link_subscribe(vault_link_t *link, const char *kind);

/** Write the subject PREFIX.KIND or, with an interest, PREFIX.KIND and the subject of the interest.
 * @param subject  has VAULT_ENGINE_SUBJECT_MAX bytes
 * @return 0: the name is too long for a page to hold it */
int vault_link_subject(const vault_link_t *link, char *subject, const char *kind, const char *interest);

/** Publish a notify, and count it. @return 0: the link is lost */
int vault_link_send(vault_link_t *link, const char *subject, const void *data, apr_size_t size);

/** Publish a message under this subject. @return 0: the link is lost */
int vault_link_publish(vault_link_t *link, const char *subject, const void *data, apr_size_t size);

/* ----------------------------------------------- link_outbox.c and link_peers.c: for link.c */

/** The kinds of messages that all strategies have: check all pages, and heartbeats. */
#define VAULT_LINK_ALL "all"
#define VAULT_LINK_BEATS "beat"

/** Publish a message under PREFIX.KIND. @return 0: the link is lost */
int vault_link_publish_kind(vault_link_t *link, const char *kind, const void *data, apr_size_t size);

/** Publish what waits in the outbox, VAULT_LINK_BATCH entries at most. @return 1: there may be more */
int vault_link_publish_outbox(vault_link_t *link);

/** Publish a heartbeat. */
void vault_link_beat(vault_link_t *link);

/** A heartbeat has come. Any thread. */
void vault_link_hear(vault_link_t *link, const void *data, apr_size_t size);

/** Forget the servers that are silent: all pages of this server check for changes then. */
void vault_link_drop_silent(vault_link_t *link, apr_time_t now);

/* ------------------------------------------------------------ link.c: for the other files */

/** Report an event of this link. Any thread. */
void vault_link_say(const vault_link_t *link, vault_gateway_event_t event, const char *why);

/** A random name that tells this connection from all others: 16 digits and a NUL. */
void vault_link_name(char *name);

/** All pages of this server check for changes. Any thread. */
void vault_link_check_all(vault_link_t *link);

/** Have the thread do a round. Any thread. */
void vault_link_wake(vault_link_t *link);

/** Another server has notified an interest: notify it on this one. Any thread. */
void vault_link_notified(vault_link_t *link, const char *interest);

/* ----------------------------------------------------------- link.c: for the gateway */

/** Prepare and start the thread. The last thread that ends lets another child be the gateway.
 * @return APR_SUCCESS, or why not */
apr_status_t vault_link_start(vault_link_t *link, const vault_gateway_options_t *options, const vault_hash_ring_t *ring,
                              unsigned number, vault_link_count_t *running, apr_pool_t *pool);

/** Ask the thread to end. */
void vault_link_ask_stop(vault_link_t *link);

/** The thread has ended, or is about to: free what it had. */
void vault_link_join(vault_link_t *link);

#endif
