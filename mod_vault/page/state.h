/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file state.h
 * The state of a page: properties, cursors, methods, the stamps of their interests, and reports to feeds that
 * are due when the browser has acknowledged the state.
 *
 * A stored state is immutable. It is one block of the shared heap; to read or change it, it is copied into
 * arrays in a pool, and a changed state is stored as a new block. A page has the committed state (`base`, which
 * its browser is known to have) and staged ones (answers that are not acknowledged yet), each made from an
 * earlier state.
 *
 * A dependency is an interest with the stamp that was read before the data. The page that owns the state holds
 * the interest, so the interest keeps its index for as long as the state is stored.
 *
 * Pure functions over memory that the caller owns; no locks, no threads.
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

/** The position of a page in the data of one feed call. */
typedef struct vault_cursor_t {
    const char *scope;        /* the URL of the method that made the call; "" for the view */
    const char *key;          /* feed, method, arguments */
    const char *value;        /* an opaque string of the feed; NULL: never set */
    apr_array_header_t *deps; /* of vault_dep_t; never NULL */
} vault_cursor_t;

/** The method answered 401, 403 or a redirect when it last ran, and the page was told. It is delayed after that. */
typedef struct vault_refusal_t {
    unsigned status;  /* of HTTP; 0: the method is not refused */
    unsigned seconds; /* the length of the delay; 0: none */
    apr_time_t until; /* when the delay ends (now.h) */
} vault_refusal_t;

/** The longest delay of a refused method, in seconds. */
#define VAULT_REFUSAL_MOST 300

typedef struct vault_method_t {
    const char *url;
    apr_array_header_t *deps; /* of vault_dep_t; NULL: it has never run */
    vault_refusal_t refusal;
    apr_uint32_t shared;   /* how often another run's output was used for the page */
    apr_uint32_t personal; /* why the last output was for this page alone: a vault_personal_t */
} vault_method_t;

/** A report to a feed that is due when the browser has acknowledged this state. */
typedef struct vault_ack_t {
    const char *feed; /* NAME of the VaultFeed */
    const char *data; /* opaque */
} vault_ack_t;

typedef struct vault_state_t {
    apr_uint64_t seq;               /* the number of the answer with this state; 0: the page's HTML */
    apr_array_header_t *properties; /* of vault_property_t */
    apr_array_header_t *cursors;    /* of vault_cursor_t */
    apr_array_header_t *methods;    /* of vault_method_t */
    apr_array_header_t *acks;       /* of vault_ack_t; those not reported yet */
    apr_pool_t *pool;
} vault_state_t;

/** An empty state, number 0. */
vault_state_t *vault_state_create(apr_pool_t *pool);

/** The number of bytes that vault_state_encode() will write. */
apr_size_t vault_state_size(const vault_state_t *state);

/** Write the state into a block of that size. */
void vault_state_encode(const vault_state_t *state, void *block, apr_size_t size);

/** Read a block: a copy of the stored one, aligned to 8. The strings of the result point into it.
 * @return NULL: the block is not a valid state. Nothing in it is trusted */
vault_state_t *vault_state_decode(const void *block, apr_size_t size, apr_pool_t *pool);

/** The length of a stored state, in bytes. */
apr_size_t vault_state_bytes(const void *block);

/** Set the number of a stored state, and that of the state that it was made from, before it is published. */
void vault_state_number(void *block, apr_uint64_t seq, apr_uint64_t from);

/** The number of a stored state. */
apr_uint64_t vault_state_seq(const void *block);

/** The number of the state that it was made from. */
apr_uint64_t vault_state_from(const void *block);

/** Has the stored state acknowledgements to report? */
int vault_state_has_acks(const void *block);

/** Mark the acknowledgements of the stored state as reported. */
void vault_state_drop_acks(void *block);

/** Does the stored state depend on this interest? The block has been validated by its writer. */
int vault_state_names(const void *block, vault_interest_t interest);

vault_property_t *vault_state_property(const vault_state_t *state, const char *key);
vault_cursor_t *vault_state_cursor(const vault_state_t *state, const char *scope, const char *key);
vault_method_t *vault_state_method(const vault_state_t *state, const char *url);

/** Is the method delayed for a request that arrived at that time? A delay that ends within the next second
 * counts as over, so that one request tries all methods that were refused together. */
int vault_method_rests(const vault_method_t *method, apr_time_t at);

/** Set a property; NULL removes it. The strings are borrowed. */
void vault_state_set(vault_state_t *state, const char *key, const char *value);

/** The dependency on this interest, or NULL. */
vault_dep_t *vault_deps_find(const apr_array_header_t *deps, vault_interest_t interest);

/** Add a dependency. If it is there already, the older of the two stamps counts: data that were read after the
 * older one may not contain what the newer one announces. */
void vault_deps_add(apr_array_header_t *deps, vault_interest_t interest, apr_uint64_t stamp);

/** The same with each one of `more`; NULL: none. */
void vault_deps_add_all(apr_array_header_t *deps, const apr_array_header_t *more);

/** Remove the dependency on that interest, if there is one. */
void vault_deps_remove(apr_array_header_t *deps, vault_interest_t interest);

/** Is an ack of the same feed with the same data in the list? */
int vault_acks_have(const apr_array_header_t *acks, const vault_ack_t *ack);

#endif
