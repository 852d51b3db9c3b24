/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file state.h
 * What the server knows of a page at one moment: properties, cursors, methods, the stamps behind them, and what its feeds want to
 * hear once the browser has it.
 *
 * A state is immutable once stored. Stored, it is one block of the shared heap; to be read or changed it is copied out of
 * there into arrays in a pool, and a changed one is stored as a new block. A page has the committed one (`base`:
 * what its browser is known to have) and staged ones (answers that are on their way), each made from one before it.
 *
 * A dependency is an interest with the stamp that was read before the data. The page that owns the state holds the interest, so
 * the index stays its own for as long as the state is stored.
 *
 * Pure functions over memory the caller owns; no locks, no threads.
 */
#ifndef VAULT_STATE_H
#define VAULT_STATE_H

#include "apr_pools.h"
#include "apr_tables.h"

#include "notify/notifier.h"

/** The largest stored state, in bytes. */
#define VAULT_STATE_MAX (64 * 1024)

typedef struct vault_dep_t {
    vault_interest_t interest;
    apr_uint64_t stamp;
} vault_dep_t;

typedef struct vault_property_t {
    const char *key;
    const char *value;
} vault_property_t;

/** How far the page is with one call of a feed. */
typedef struct vault_cursor_t {
    const char *scope;        /* URL of the long-poll method that made the call; "" for the page view itself */
    const char *key;          /* feed, method, arguments */
    const char *value;        /* the feed's opaque string; NULL: never set */
    apr_array_header_t *deps; /* of vault_dep_t; never NULL */
} vault_cursor_t;

/** The method answered 401, 403 or a redirect when it last ran, and the page was told. It then rests. */
typedef struct vault_refusal_t {
    unsigned status;  /* of HTTP; 0: the method is not refused */
    unsigned seconds; /* how long it rests; 0: it need not */
    apr_time_t until; /* when the rest is over (now.h) */
} vault_refusal_t;

/** The longest rest of a refused method, in seconds. */
#define VAULT_REFUSAL_MOST 300

typedef struct vault_method_t {
    const char *url;
    apr_array_header_t *deps; /* of vault_dep_t; NULL: never run */
    vault_refusal_t refusal;
} vault_method_t;

/** What a feed is told once the browser is known to have this state. */
typedef struct vault_ack_t {
    const char *feed; /* NAME of the VaultFeed */
    const char *data; /* the feed's own */
} vault_ack_t;

typedef struct vault_state_t {
    apr_uint64_t seq;               /* number of the answer that carries it; 0: the page's HTML */
    apr_array_header_t *properties; /* of vault_property_t */
    apr_array_header_t *cursors;    /* of vault_cursor_t */
    apr_array_header_t *methods;    /* of vault_method_t */
    apr_array_header_t *acks;       /* of vault_ack_t; those that are still to be told */
    apr_pool_t *pool;
} vault_state_t;

/** An empty state, number 0. */
vault_state_t *vault_state_create(apr_pool_t *pool);

/** How many bytes vault_state_encode() will write. */
apr_size_t vault_state_size(const vault_state_t *state);

/** Write the state into a block of that size. */
void vault_state_encode(const vault_state_t *state, void *block, apr_size_t size);

/** Read a block, a copy of the stored one, aligned to 8: the state's strings point into it.
 * @return NULL when the block is not a whole state: nothing in it is trusted */
vault_state_t *vault_state_decode(const void *block, apr_size_t size, apr_pool_t *pool);

/** How long a stored state is. */
apr_size_t vault_state_bytes(const void *block);

/** Give the stored state its answer's number, and that of the state that it was made from, before it is published. */
void vault_state_number(void *block, apr_uint64_t seq, apr_uint64_t from);

/** The number of a stored state. */
apr_uint64_t vault_state_seq(const void *block);

/** The number of the state that it was made from. */
apr_uint64_t vault_state_from(const void *block);

/** Does the stored state have acks to be told? */
int vault_state_has_acks(const void *block);

/** They have been told: the stored state has none any more. */
void vault_state_drop_acks(void *block);

/** Does the stored state name this interest? The block has been checked by its writer. */
int vault_state_names(const void *block, vault_interest_t interest);

vault_property_t *vault_state_property(const vault_state_t *state, const char *key);
vault_cursor_t *vault_state_cursor(const vault_state_t *state, const char *scope, const char *key);
vault_method_t *vault_state_method(const vault_state_t *state, const char *url);

/** Does the method rest, for a request that came at that time? A rest that ends within the next second is over, so that
 * one request tries all methods that were refused together. */
int vault_method_rests(const vault_method_t *method, apr_time_t at);

/** Set (value NULL: remove) a property; the strings are borrowed. */
void vault_state_set(vault_state_t *state, const char *key, const char *value);

/** The dependency on that interest, or NULL. */
vault_dep_t *vault_deps_find(const apr_array_header_t *deps, vault_interest_t interest);

#endif
