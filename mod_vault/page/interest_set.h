/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file interest_set.h
 * The interests that a poll waits for: those of the states of its pages. Tells whether any of them has moved
 * since the state was read.
 *
 * The order is always: list the interests, attach the poll (waiters.h), arm the interests, compare. A notify
 * between any two of these steps either wakes the poll or has moved the stamp that is compared.
 *
 * A set belongs to the thread that owns the poll.
 */
#ifndef VAULT_INTEREST_SET_H
#define VAULT_INTEREST_SET_H

#include "page/state.h"
#include "wait/waiters.h"

/** Zeroed before its first use. */
typedef struct vault_interest_set_t {
    vault_wait_t *waits; /* of each page its own interest first, then those of its methods, each once */
    unsigned count, room;
    apr_uint64_t *stamps; /* one a wait, as arming gave it */
} vault_interest_set_t;

/** How many interests it can be for a page.
 * @param base  the committed state; NULL: not published yet */
unsigned vault_interest_set_max(const vault_state_t *base);

/** Forget what was listed, and have room for `max`.
 * @param pool  as long as the poll */
void vault_interest_set_clear(vault_interest_set_t *set, unsigned max, apr_pool_t *pool);

/** List what is to be watched for a page.
 * @param own   the page's own interest
 * @param base  as for vault_interest_set_max(), whose sum there is room for
 * @param at    when the poll came: what refused methods depend on that rest for it is not watched */
void vault_interest_set_add(vault_interest_set_t *set, vault_interest_t own, const vault_state_t *base, apr_time_t at);

/** Arm all of it for the child of `slot`, and note the stamps.
 * @param slot     0: nobody can be told; the stamps are read all the same
 * @param scratch  as long as vault_interest_set_method_moved() is asked */
void vault_interest_set_arm(vault_interest_set_t *set, vault_notifier_t *n, unsigned slot, apr_pool_t *scratch);

/** Has the interest been notified since it had that stamp? Also when it is not watched. */
int vault_interest_set_has_moved(const vault_interest_set_t *set, vault_interest_t interest, apr_uint64_t stamp);

/** Has the method never run, or has anything it depends on moved? */
int vault_interest_set_method_moved(const vault_interest_set_t *set, const vault_method_t *method);

/** The stamps as arming gave them, in `pool`: of vault_dep_t. */
apr_array_header_t *vault_interest_set_stamps(const vault_interest_set_t *set, apr_pool_t *pool);

#endif
