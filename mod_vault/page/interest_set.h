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
    vault_wait_t *waits; /* the own interest of each page, then those of its methods, each once */
    unsigned count, room;
    apr_uint64_t *stamps; /* one for each wait, as they were when it was armed */
} vault_interest_set_t;

/** The largest number of interests that a page can add.
 * @param base  the page's state; NULL: not published yet */
unsigned vault_interest_set_max(const vault_state_t *base);

/** Empty the set, and make room for `max` interests.
 * @param pool  lives as long as the poll */
void vault_interest_set_clear(vault_interest_set_t *set, unsigned max, apr_pool_t *pool);

/** Add the interests of a page.
 * @param own   the page's own interest
 * @param base  as for vault_interest_set_max(), whose sum there is room for
 * @param at    when the poll arrived: the interests of methods that are still delayed then, after a refusal,
 *              are left out */
void vault_interest_set_add(vault_interest_set_t *set, vault_interest_t own, const vault_state_t *base, apr_time_t at);

/** Add one more interest. There is room for it as for those of a page. */
void vault_interest_set_add_one(vault_interest_set_t *set, vault_interest_t interest);

/** Arm all interests for the child with this slot, and read their stamps.
 * @param slot     0: the child cannot be woken; only read the stamps
 * @param scratch  lives as long as the set is compared */
void vault_interest_set_arm(vault_interest_set_t *set, vault_notifier_t *n, unsigned slot, apr_pool_t *scratch);

/** Has the interest moved since it had this stamp? Also true if it is not in the set. */
int vault_interest_set_has_moved(const vault_interest_set_t *set, vault_interest_t interest, apr_uint64_t stamp);

/** Has the method never run, or has any of its interests moved? */
int vault_interest_set_method_moved(const vault_interest_set_t *set, const vault_method_t *method);

/** The stamps as they were when the interests were armed: of vault_dep_t, in `pool`. */
apr_array_header_t *vault_interest_set_stamps(const vault_interest_set_t *set, apr_pool_t *pool);

#endif
