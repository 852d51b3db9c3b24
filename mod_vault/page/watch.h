/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file watch.h
 * What one poll watches: the interests behind the committed states of its pages, and whether any has moved since.
 *
 * The order is always list, attach (waiters.h), arm, then ask: a notify between any two of these rings the bell or has moved the
 * stamp that is asked about.
 *
 * A watch belongs to the thread that owns the poll.
 */
#ifndef VAULT_WATCH_H
#define VAULT_WATCH_H

#include "page/state.h"
#include "wait/waiters.h"

/** Zeroed before its first use. */
typedef struct vault_watch_t {
    vault_wait_t *waits; /* of each page its own interest first, then those of its methods, each once */
    unsigned count, room;
    apr_uint64_t *stamps; /* one a wait, as arming gave it */
} vault_watch_t;

/** How many interests it can be for a page.
 * @param base  the committed state; NULL: not published yet */
unsigned vault_watch_most(const vault_state_t *base);

/** Forget what was listed, and have room for `most`.
 * @param pool  as long as the poll */
void vault_watch_clear(vault_watch_t *w, unsigned most, apr_pool_t *pool);

/** List what is to be watched for a page.
 * @param own   the page's own interest
 * @param base  as for vault_watch_most(), whose sum there is room for
 * @param at    when the poll came: what refused methods depend on that rest for it is not watched */
void vault_watch_add(vault_watch_t *w, vault_interest_t own, const vault_state_t *base, apr_time_t at);

/** Arm all of it for the child of `slot`, and note the stamps.
 * @param slot     0: nobody can be told; the stamps are read all the same
 * @param scratch  as long as vault_watch_moved() is asked */
void vault_watch_arm(vault_watch_t *w, vault_notifier_t *n, unsigned slot, apr_pool_t *scratch);

/** Has the interest been notified since it had that stamp? Also when it is not watched. */
int vault_watch_passed(const vault_watch_t *w, vault_interest_t interest, apr_uint64_t stamp);

/** Has the method never run, or has anything it depends on moved? */
int vault_watch_moved(const vault_watch_t *w, const vault_method_t *method);

/** The stamps as arming gave them, in `pool`: of vault_dep_t. */
apr_array_header_t *vault_watch_seen(const vault_watch_t *w, apr_pool_t *pool);

#endif
