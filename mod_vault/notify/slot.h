/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file slot.h
 * The slot of a child in the segment: its wake queue, its clean mark and its counters.
 *
 * This is not a slot of httpd's scoreboard: a child of the old generation still has waiters while the new generation
 * runs. Slot 0 has no owner. The parent uses its counters, and the totals of ended children are added to them. Children
 * get slots 1 to limits.slots.
 */
#ifndef VAULT_SLOT_H
#define VAULT_SLOT_H

#include <sys/types.h>

#include "notify/notifier.h"

typedef struct vault_counters_t {
#define FIELD(field, name, meaning) apr_uint64_t field; /* atomic */
    VAULT_COUNTERS(FIELD, FIELD)
#undef FIELD
    apr_uint64_t personal[VAULT_PERSONAL_COUNT]; /* atomic; by reason: outputs that were not shared */
} vault_counters_t;

/** Claim a free slot for the process `pid`: empties its queue and resets the clean mark and the counters. A
 * child calls this first.
 * @return APR_SUCCESS; APR_ENOSPC no slot is free: no request may wait in this child */
apr_status_t vault_slot_claim(vault_notifier_t *n, pid_t pid, unsigned *slot);

/** Mark that the child ends in order. The last call of a child. */
void vault_slot_leave(vault_notifier_t *n, unsigned slot);

/** The process `pid` has ended (parent, from child_status). Frees its slot; if it did not end in order, notifies
 * all.
 * @return 1: it did not end in order, so locks, leases and counts of `*slot` are void; 0: it did, or it had no
 *         slot */
int vault_slot_exited(vault_notifier_t *n, pid_t pid, unsigned *slot);

/** Identifies a child for data in shared memory that is valid only while the child lives. 0: no child. */
typedef apr_uint64_t vault_lease_t;

/** The lease of the child that owns `slot` now; 0 for slot 0 and for numbers that are not slots. */
vault_lease_t vault_slot_lease(const vault_notifier_t *n, unsigned slot);

/** Does the parent know that the child with this lease has ended? Then its lease has expired, even if another
 * child has its slot now. Lease 0 never expires. Takes no lock. */
int vault_lease_is_expired(const vault_notifier_t *n, vault_lease_t lease);

/** How many children are known to have died without ending in order. Each may have leaked what it was working
 * on. */
apr_uint32_t vault_slot_deaths(const vault_notifier_t *n);

/** The eventfd that is readable when the queue of `slot` is not empty. Non-blocking; read it, then drain the
 * queue. */
int vault_slot_fd(const vault_notifier_t *n, unsigned slot);

/** Take the entries queued for `slot`.
 * @param list   receives up to `max` interests
 * @param count  receives their number
 * @return 1: all waiters must be woken, whatever is in the list; 0: only those of the list
 * The queue holds at most VAULT_SLOT_QUEUE entries, so a list of that size takes all. Only the owner's waker
 * thread calls this. It also calls it every second without being woken, in case a process died before it wrote
 * the descriptor. */
#define VAULT_SLOT_QUEUE 1024
int vault_slot_drain(vault_notifier_t *n, unsigned slot, vault_interest_t *list, unsigned max, unsigned *count);

/** Write the eventfd of `slot`, for a table that the waker of that slot reads when it is woken. */
void vault_slot_ring(const vault_notifier_t *n, unsigned slot);

/** The slot of the process `pid`; 0: none. */
unsigned vault_slot_of(const vault_notifier_t *n, pid_t pid);

/** The pid of the owner of `slot`; 0: none. Slots run from 1 to vault_slot_last(). */
pid_t vault_slot_pid(const vault_notifier_t *n, unsigned slot);
unsigned vault_slot_last(const vault_notifier_t *n);

/** The counters of `slot` (0: the parent and ended children). Add with vault_count(); any thread may read them. */
vault_counters_t *vault_slot_counters(const vault_notifier_t *n, unsigned slot);

#define vault_count(counters, field, by)                                                                               \
    ((void)__atomic_fetch_add(&(counters)->field, (apr_uint64_t)(by), __ATOMIC_RELAXED))

#endif
