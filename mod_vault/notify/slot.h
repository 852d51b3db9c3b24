/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file slot.h
 * A child's place in the segment: its wake queue, its clean mark, its counters.
 *
 * A slot is not httpd's scoreboard slot: a child of the old generation still has waiters while the new one runs.
 * Slot 0 belongs to nobody: the parent counts there, and so do the totals of the dead. Children get 1..limits.slots.
 */
#ifndef VAULT_SLOT_H
#define VAULT_SLOT_H

#include <sys/types.h>

#include "notify/notifier.h"

typedef struct vault_counters_t {
#define FIELD(field, name, meaning) apr_uint64_t field; /* atomic */
    VAULT_COUNTERS(FIELD, FIELD)
#undef FIELD
} vault_counters_t;

/** Take a free slot for the process `pid`: queue emptied, clean mark and counters zero. First thing in a child.
 * @return APR_SUCCESS; APR_ENOSPC none is free: the child must not let anything wait */
apr_status_t vault_slot_claim(vault_notifier_t *n, pid_t pid, unsigned *slot);

/** The child is done, in order. Its very last act. */
void vault_slot_leave(vault_notifier_t *n, unsigned slot);

/** The process `pid` is gone (parent, from child_status). Frees its slot; if it did not leave in order, notifies all.
 * @return 1  it had not left in order: locks, leases and counts of `*slot` are void
 *         0  it had, or it had no slot */
int vault_slot_exited(vault_notifier_t *n, pid_t pid, unsigned *slot);

/** A mark for what a child has only while it lives, to keep in shared memory beside it. 0: of no child. */
typedef apr_uint64_t vault_lease_t;

/** The lease of the child that owns `slot` now; 0 for slot 0 and what is no slot. */
vault_lease_t vault_slot_lease(const vault_notifier_t *n, unsigned slot);

/** Has the parent learnt that the child is gone whose lease this is? What it had is void then, also when another has its slot.
 * Lease 0 is never void. Takes no lock. */
int vault_lease_is_void(const vault_notifier_t *n, vault_lease_t lease);

/** How many children are known to have died, not left in order. Each may have leaked what it had in its hands. */
apr_uint32_t vault_slot_deaths(const vault_notifier_t *n);

/** The eventfd that says the queue of `slot` has something. Non-blocking; read it, then drain. */
int vault_slot_fd(const vault_notifier_t *n, unsigned slot);

/** What is queued with this bit is the index of a pass that was let in or displaced (qos.h), not an interest. */
#define VAULT_SLOT_PASS 0x80000000u

/** Take what is queued for `slot`.
 * @param list   receives up to `max` interests and passes
 * @param count  how many
 * @return 1  everybody must be woken (the list does not matter)
 *         0  only those in the list
 * The queue holds at most VAULT_SLOT_QUEUE, so a list of that size takes it whole. Only the owner's waker thread calls this; it
 * also calls it every second without a ring, for a ring that died with its ringer. */
#define VAULT_SLOT_QUEUE 1024
int vault_slot_drain(vault_notifier_t *n, unsigned slot, vault_interest_t *list, unsigned max, unsigned *count);

/** The slot of the process `pid`; 0: it has none. */
unsigned vault_slot_of(const vault_notifier_t *n, pid_t pid);

/** The pid that owns `slot`; 0: nobody. Slots run from 1 to vault_slot_last(). */
pid_t vault_slot_pid(const vault_notifier_t *n, unsigned slot);
unsigned vault_slot_last(const vault_notifier_t *n);

/** The counters of `slot` (0: of the parent and the dead). Add with vault_count(), read any time. */
vault_counters_t *vault_slot_counters(const vault_notifier_t *n, unsigned slot);

#define vault_count(counters, field, by)                                                                               \
    ((void)__atomic_fetch_add(&(counters)->field, (apr_uint64_t)(by), __ATOMIC_RELAXED))

#endif
