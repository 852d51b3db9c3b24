/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file notifier.h
 * Interests: named events in shared memory, and who has to be told.
 *
 * A notifier is a condition variable by name. It carries no data and promises one thing: an extraneous notification is possible,
 * a lost one is not. What makes it so:
 *
 *   - A stamp is taken from one global counter *after* the data it announces are committed, and read *before* the data are read.
 *     So everything announced by a number <= the stamp recorded is in the data that were read.
 *   - A sleeper arms first (vault_interest_arm sets its child's bit) and compares the stamps after. A notify moves the stamp first
 *     and takes the bits after. Both go through the interest's stripe lock, so one of the two sees the other.
 *   - notify takes the bits away: an interest is queued once a child until somebody arms again. Hence the rule: a woken sleeper
 *     that goes back to sleep arms again in full.
 *   - What cannot be delivered exactly (a full queue, a child killed inside a lock) becomes "everybody": vault_notifier_all() raises
 *     a floor under every stamp, so that what the dead one did not announce is looked at as well.
 *
 * The loop that cannot miss:                   The loop that can:
 *     arm; if (stamp moved) run; else sleep;       if (stamp moved) run; else { arm; sleep; }
 *
 * Interests are type-stable: an index that was released may come to mean another interest, never other memory, so a stale index
 * wakes strangers at worst.
 *
 * Threads: create is for the parent before any fork; everything else for any thread of any process. Nothing here blocks longer than
 * a stripe or a queue is held (well under a microsecond), and no function calls out while it holds one.
 * Lock order: page > list > stripe > queue.
 */
#ifndef VAULT_NOTIFIER_H
#define VAULT_NOTIFIER_H

#include "shm/counters.h"
#include "shm/segment.h"

typedef struct vault_notifier_t vault_notifier_t; /* handle, made before the fork, the same in every process */
typedef apr_uint32_t vault_interest_t;            /* an interest: 1 and up; 0 is none */

/** What the tables need of a segment, in bytes, for these limits (interests and slots), rounded generously. */
apr_uint64_t vault_notifier_space(const vault_limits_t *limits);

/** Make the tables, and an eventfd for each slot (all before the first fork: a child forked early must be able to ring one forked late).
 * @return APR_SUCCESS; APR_ENOSPC the segment is too small; APR_EINVAL no interests or slots, or over 40,959 slots;
 *         or what eventfd said */
apr_status_t vault_notifier_create(vault_notifier_t **notifier, vault_segment_t *segment, apr_pool_t *pool);

/* --------------------------------------------------------------- interests */

/** Hold the interest of that name, made if need be, one holder more.
 *
 * @param name   1..VAULT_INTEREST_MAX bytes, any but NUL; copied
 * @param stamp  its effective stamp: max(its own, the floor). A new interest takes a new number.
 * @return APR_SUCCESS; APR_EINVAL the name is empty or too long; APR_ENOSPC as many interests as there may be
 */
apr_status_t vault_interest_hold(vault_notifier_t *n, const char *name, vault_interest_t *interest,
                                 apr_uint64_t *stamp);

/** One holder less; without any the interest goes. The caller holds it. */
void vault_interest_release(vault_notifier_t *n, vault_interest_t interest);

/** The effective stamp now. Any index is safe; of one that is not held the answer means nothing. */
apr_uint64_t vault_interest_stamp(vault_notifier_t *n, vault_interest_t interest);

/** Ask that the child of `slot` be told of the next notify, and return the effective stamp as of after that. */
apr_uint64_t vault_interest_arm(vault_notifier_t *n, vault_interest_t interest, unsigned slot);

/** Copy the name, NUL-terminated; empty for an index not in use. */
void vault_interest_name(vault_notifier_t *n, vault_interest_t interest, char *name, apr_size_t size);

/** How many hold it now. */
apr_uint32_t vault_interest_holders(const vault_notifier_t *n, vault_interest_t interest);

/** The largest index an interest can have. */
vault_interest_t vault_notifier_interests(const vault_notifier_t *n);

/** Interests in use now. */
apr_uint32_t vault_interest_count(const vault_notifier_t *n);

/* ------------------------------------------------------------ notification */

/** Tell every page that holds `name` that it probably happened. Only after the commit of what it announces.
 *
 * @param slot  whose counters to use: the caller's, or 0 (see slot.h)
 * @return APR_SUCCESS   stamped; pages will wake (several notifies may wake them once)
 *         APR_NOTFOUND  nobody holds it: nothing to do, not a failure
 *         APR_EINVAL    empty or too long: nothing was done
 */
apr_status_t vault_notifier_notify(vault_notifier_t *n, const char *name, unsigned slot);

/** The same for an interest by index; the caller holds it. */
void vault_notifier_notify_interest(vault_notifier_t *n, vault_interest_t interest, unsigned slot);

/** Move every stamp and wake every child: what is uncertain is looked at. O(children). */
void vault_notifier_all(vault_notifier_t *n, unsigned slot);

/** The last number that was given. */
apr_uint64_t vault_notifier_now(const vault_notifier_t *n);

/** Compare tables, chains and counts. For tests and the stress program; call it while nothing else runs.
 * @return NULL, or the first thing that is wrong */
const char *vault_notifier_check(vault_notifier_t *n);

/** The same while others go on: each stripe and each queue under its lock; of the free list, which has none, only that it leads
 * nowhere else. For `vault-status?check`. */
const char *vault_notifier_check_live(vault_notifier_t *n);

#endif
