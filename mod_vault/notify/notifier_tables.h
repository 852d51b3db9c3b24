/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file notifier_tables.h
 * The layout of interests and slots in the segment. Internal: for notifier.c, notifier_tables.c, slot.c and their
 * tests.
 *
 * Interests are found by a hash: a bucket has a chain of records, which are linked by index. The low bits of the
 * bucket's number are its stripe, whose robust lock guards the chain and the records in it. Each change of a chain is
 * published by one store, so a process that is killed under the lock leaves either the old chain or the new one. The
 * next owner of the lock counts again. A killed process can lose one record: the one it was moving between the free
 * list and a chain.
 *
 * Unused records are in a free list without a lock. Its head has index and tag in one word, against the ABA problem.
 * `fresh` says how many records were ever used. The others are not in the list, so their memory is not touched.
 */
#ifndef VAULT_NOTIFIER_TABLES_H
#define VAULT_NOTIFIER_TABLES_H

#include "mod_vault/vault.h"
#include "notify/slot.h"
#include "shm/clock.h"
#include "shm/lock.h"

/** Locks over the interests; a power of two. */
#define VAULT_STRIPES 128
/** More than twice the largest ServerLimit that httpd accepts (20,000). */
#define VAULT_SLOTS_MAX 40959
/** The number of 64-bit words that have a bit for each slot. Slot 0 has a bit too, which is never set. */
#define VAULT_MASK_WORDS(slots) ((slots) / 64 + 1)

typedef struct vault_stripe_t {
    _Alignas(64) vault_lock_t lock;
    apr_uint32_t held; /* atomic, written under lock: interests in this stripe */
} vault_stripe_t;

_Static_assert(sizeof(vault_stripe_t) == 64, "a stripe has a cache line of its own");

/** An interest. Guarded by the stripe of its hash, once it is in a chain. */
typedef struct vault_record_t {
    apr_uint64_t stamp;                /* atomic; never decreases, also when the record becomes another interest */
    apr_uint64_t hash;                 /* atomic; written only while the record has no holders */
    apr_uint32_t next;                 /* atomic; in the chain or in the free list; 0 ends it */
    apr_uint32_t holders;              /* atomic; 0: not in use */
    apr_uint32_t length;               /* lock; of the name */
    char name[VAULT_INTEREST_MAX + 8]; /* lock; NUL-terminated */
    apr_uint64_t mask[];               /* atomic; slots to wake at the next notify */
} vault_record_t;

_Static_assert(sizeof(vault_record_t) % 8 == 0, "the mask follows without a gap");

typedef struct vault_tables_t {
    _Alignas(64) apr_uint64_t free;  /* atomic; tag << 32 | first free record */
    _Alignas(64) apr_uint32_t fresh; /* atomic; records 1..fresh have been used */
    apr_uint32_t deaths;             /* atomic; how many owners of slots died without leaving in order */
    vault_stripe_t stripes[VAULT_STRIPES];
} vault_tables_t;

/** The slot of a child. Of slot 0 only the counters are used. */
typedef struct vault_slot_t {
    _Alignas(64) vault_lock_t lock;
    apr_uint32_t head;                                /* lock; free-running: the next entry to take */
    apr_uint32_t tail;                                /* lock; free-running: where the next entry goes */
    apr_uint32_t all;                                 /* lock; all waiters of the child must be woken */
    apr_uint32_t rung;                                /* lock; the eventfd was written for the entries in the queue */
    apr_int64_t pid;                                  /* atomic; 0: free */
    apr_uint32_t clean;                               /* atomic; the owner left in order */
    apr_uint32_t turn;                                /* atomic; increased when an owner has gone: leases contain it */
    _Alignas(64) apr_uint32_t ring[VAULT_SLOT_QUEUE]; /* lock */
    _Alignas(64) vault_counters_t counters;           /* atomic, each */
} vault_slot_t;

_Static_assert((VAULT_SLOT_QUEUE & (VAULT_SLOT_QUEUE - 1)) == 0, "positions in the ring run free");

/** The handle. It is plain data, because it outlives the unloading of this code. */
struct vault_notifier_t {
    vault_clock_t *clock;
    vault_tables_t *tables;
    apr_uint32_t *buckets; /* atomic, each; the first record of a chain */
    char *records;
    vault_slot_t *slots;
    vault_journal_t *held;    /* receives each interest that is held or released now; NULL: none does */
    apr_uint64_t seed;        /* key of the hash of names; secret, since browsers also send names */
    apr_uint32_t bucket_mask; /* buckets - 1 */
    apr_uint32_t record_size;
    apr_uint32_t interests;
    apr_uint32_t last_slot;
    int fds[]; /* by slot; [0] is -1 */
};

/* ------------------------------------------------------------------- words */

static inline apr_uint32_t vault_load32(const apr_uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/** All stores before this one stay before it. A process killed around here leaves the old value or the new one. */
static inline void vault_publish32(apr_uint32_t *word, apr_uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* ------------------------------------------------------------------- names */

/** A name and its hash. The low bits of the hash are the stripe; with more bits they are the bucket. */
typedef struct vault_key_t {
    const char *name; /* borrowed */
    apr_size_t length;
    apr_uint64_t hash;
} vault_key_t;

/** @return 0 the name is NULL, empty or too long */
int vault_key_make(const vault_notifier_t *n, const char *name, vault_key_t *key);

/* ----------------------------------------------------------------- stripes */

vault_stripe_t *vault_stripe_of(const vault_notifier_t *n, apr_uint64_t hash);

/** @return 1: the last owner died under the lock. The stripe is repaired; the caller notifies all when it has released
 *         it.
 *         0: otherwise */
int vault_stripe_acquire(vault_notifier_t *n, vault_stripe_t *stripe);

/** Lock the stripe to which a record belongs now.
 * @param died  set to 1 if vault_stripe_acquire() returns 1, otherwise left alone
 * @return NULL: the interest has no holders, and nothing is locked */
vault_stripe_t *vault_record_lock(vault_notifier_t *n, vault_record_t *record, int *died);

/* ----------------------------------------------------------------- records */

/** The record of an index; NULL for 0 and for an index beyond the table. */
static inline vault_record_t *vault_record_at(const vault_notifier_t *n, apr_uint32_t index)
{
    if (index == 0 || index > n->interests) {
        return NULL;
    }
    return (vault_record_t *)(n->records + (apr_size_t)(index - 1) * n->record_size);
}

/** @return 0 the name has no holders */
apr_uint32_t vault_record_find_locked(const vault_notifier_t *n, const vault_key_t *key);

/** Create an interest that does not exist, with one holder. @return 0: the table is full */
apr_uint32_t vault_record_insert_locked(vault_notifier_t *n, vault_stripe_t *stripe, const vault_key_t *key);

/** Remove an interest whose last holder leaves. */
void vault_record_remove_locked(vault_notifier_t *n, vault_stripe_t *stripe, apr_uint32_t index);

/** The first inconsistency of chains, counts and free list, or NULL.
 * @param live  other threads and processes use the tables meanwhile
 * @param died  as of vault_record_lock() */
const char *vault_records_check(vault_notifier_t *n, int live, int *died);

/* ------------------------------------------------------------------- slots */

/** Create the locks and the eventfds of all slots. */
apr_status_t vault_slot_init(vault_notifier_t *n);

/** Queue an interest for a child, and write the eventfd of the child.
 * @return 1: a process had died while it held the lock of the queue: notify all
 *         0: otherwise */
int vault_slot_push(vault_notifier_t *n, unsigned slot, apr_uint32_t interest, vault_counters_t *counters);

/**
 * Have all waiters of a child woken. The eventfd is written even if it was written before: the process that should have
 * written it may have died before it did.
 * @return as vault_slot_push()
 */
int vault_slot_wake(vault_notifier_t *n, unsigned slot);

/** The first inconsistency of the slots, or NULL.
 * @param died  set to 1 if vault_slot_push() returns 1, otherwise left alone */
const char *vault_slot_check(vault_notifier_t *n, int *died);

#endif
