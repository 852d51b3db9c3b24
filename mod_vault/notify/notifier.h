/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file notifier.h
 * Interests: named events in shared memory, and the children to wake for them.
 *
 * A notifier is a condition variable that is found by name. It carries no data and promises one thing:
 * extraneous notifications are possible, lost ones are not. This is why:
 *
 *   - A stamp is taken from one global counter *after* the announced data is committed, and read *before* the data is
 *     read. So everything announced by a number <= the recorded stamp is in the data that was read.
 *   - A sleeper arms first (vault_interest_arm() sets the bit of its child) and compares the stamps after
 *     that. A notify moves the stamp first and takes the bits after that. Both hold the lock of the interest's
 *     stripe, so one of the two sees the other.
 *   - A notify clears the bits: an interest is queued once for each child until it is armed again. Hence the rule: a
 *     woken sleeper that goes back to sleep arms all its interests again.
 *   - What cannot be delivered exactly (a full queue, a child killed inside a lock) becomes a notify of all:
 *     vault_notifier_all() raises a floor under every stamp, so that pages also check what the dead process did not
 *     announce.
 *
 * The loop that cannot miss a change:          The loop that can:
 *     arm; if (stamp moved) run; else sleep;       if (stamp moved) run; else { arm; sleep; }
 *
 * Interests are type-stable: a released index may later mean another interest, but never other memory, so a
 * stale index can at worst wake unrelated sleepers.
 *
 * Threads: create is for the parent before any fork; everything else is for any thread of any process. No
 * function blocks longer than a stripe or a queue is held (well under a microsecond), and none calls other code
 * while it holds one. Lock order: page > list > stripe > queue, journal.
 */
#ifndef VAULT_NOTIFIER_H
#define VAULT_NOTIFIER_H

#include "shm/counters.h"
#include "shm/journal.h"
#include "shm/segment.h"

typedef struct vault_notifier_t vault_notifier_t; /* a handle made before the fork, the same in every process */
typedef apr_uint32_t vault_interest_t;            /* an interest: 1 and up; 0 is none */

/** The memory of the tables in the segment, in bytes, for these limits (interests and slots), rounded up
 * generously. */
apr_uint64_t vault_notifier_space(const vault_limits_t *limits);

/** Create the tables, and an eventfd for each slot (all before the first fork, since a child forked early must
 * be able to wake one forked late).
 * @return APR_SUCCESS; APR_ENOSPC the segment is too small; APR_EINVAL no interests or slots, or more than
 *         40,959 slots; or an error of eventfd() */
apr_status_t vault_notifier_create(vault_notifier_t **notifier, vault_segment_t *segment, apr_pool_t *pool);

/** Append the number of each interest to this journal whenever its first holder has come or its last one has left.
 * Parent, before any fork. A process that is killed meanwhile makes the journal lose entries. */
void vault_notifier_report_to(vault_notifier_t *n, vault_journal_t *held);

/* --------------------------------------------------------------- interests */

/** Hold the interest of this name: creates it if it does not exist, and adds a holder.
 *
 * @param name   1..VAULT_INTEREST_MAX bytes, any but NUL; copied
 * @param stamp  its effective stamp: the maximum of its own stamp and the floor. A new interest takes a new
 *               number.
 * @return APR_SUCCESS; APR_EINVAL the name is empty or too long; APR_ENOSPC the table is full
 */
apr_status_t vault_interest_hold(vault_notifier_t *n, const char *name, vault_interest_t *interest,
                                 apr_uint64_t *stamp);

/** Remove a holder; without holders the interest is removed. The caller holds it. */
void vault_interest_release(vault_notifier_t *n, vault_interest_t interest);

/** The current effective stamp. Any index is safe; the result for one that is not held means nothing. */
apr_uint64_t vault_interest_stamp(vault_notifier_t *n, vault_interest_t interest);

/** Have the child of `slot` woken by the next notify, and return the effective stamp as it is after that. */
apr_uint64_t vault_interest_arm(vault_notifier_t *n, vault_interest_t interest, unsigned slot);

/** Copy the name, NUL-terminated; empty for an unused index. */
void vault_interest_name(vault_notifier_t *n, vault_interest_t interest, char *name, apr_size_t size);

/** The current number of holders. */
apr_uint32_t vault_interest_holders(const vault_notifier_t *n, vault_interest_t interest);

/** The largest index an interest can have. */
vault_interest_t vault_notifier_interests(const vault_notifier_t *n);

/** The current number of interests. */
apr_uint32_t vault_interest_count(const vault_notifier_t *n);

/* ------------------------------------------------------------ notification */

/** Tell every page that holds `name` that the event has probably happened. Call it after the data is committed.
 *
 * @param slot  the slot whose counters are used: that of the caller, or 0 (see slot.h)
 * @return APR_SUCCESS   stamped; the pages will wake (several notifies may wake them once)
 *         APR_NOTFOUND  no page holds it: nothing to do, not a failure
 *         APR_EINVAL    empty or too long: nothing was done */
apr_status_t vault_notifier_notify(vault_notifier_t *n, const char *name, unsigned slot);

/** Notify an interest by its index; the caller holds it. */
void vault_notifier_notify_interest(vault_notifier_t *n, vault_interest_t interest, unsigned slot);

/** Move every stamp and wake every child, so that all pages check for changes. O(children). */
void vault_notifier_all(vault_notifier_t *n, unsigned slot);

/** The last number that was taken. */
apr_uint64_t vault_notifier_now(const vault_notifier_t *n);

/** Check tables, chains and counts. For tests and the stress program, while no other thread or process uses the tables.
 * @return NULL, or the first inconsistency */
const char *vault_notifier_check(vault_notifier_t *n);

/** The same check on a running server. It takes the lock of each stripe and of each queue. The free list has no lock:
 * only its end is checked. For `vault-status?check`. */
const char *vault_notifier_check_live(vault_notifier_t *n);

#endif
