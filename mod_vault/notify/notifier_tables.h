/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file notifier_tables.h
 * How interests and slots lie in the segment. Internal: for notifier.c, notifier_tables.c, slot.c and their tests.
 *
 * Interests are found by a hash: bucket -> chain of records, linked by index. A bucket belongs to the stripe of
 * the same low bits, whose robust lock guards its chains and the records in them. Each change of a chain is one
 * store that publishes it, so that a process killed in the lock leaves the old chain or the new one; counts are
 * made anew by the next owner. What a killed process can lose is the one record it was moving between the free
 * list and a chain.
 *
 * Unused records are in a free list without a lock (index and tag in one word, against ABA); below
 * it, `fresh` says how many were ever used, so that memory that was never needed is not touched.
 */
#ifndef VAULT_NOTIFIER_TABLES_H
#define VAULT_NOTIFIER_TABLES_H

#include "mod_vault/vault.h"
#include "notify/slot.h"
#include "shm/clock.h"
#include "shm/lock.h"

/** Locks over the interests; a power of two. */
#define VAULT_STRIPES 128
/** More than twice the largest ServerLimit that httpd takes (20,000). */
#define VAULT_SLOTS_MAX 40959
/** 64-bit words for a bit of each slot; slot 0 has one too, never set. */
#define VAULT_MASK_WORDS(slots) ((slots) / 64 + 1)

typedef struct vault_stripe_t {
    _Alignas(64) vault_lock_t lock;
    apr_uint32_t held; /* atomic, written under lock: interests in this stripe */
} vault_stripe_t;

_Static_assert(sizeof(vault_stripe_t) == 64, "a stripe has a cache line of its own");

/** An interest. Guarded by the stripe of its hash, once it is in a chain. */
typedef struct vault_record_t {
    apr_uint64_t stamp;                /* atomic; only grows, whatever the record means */
    apr_uint64_t hash;                 /* atomic; written while it has no holders */
    apr_uint32_t next;                 /* atomic; in the chain or in the free list; 0 ends it */
    apr_uint32_t holders;              /* atomic; 0: not in use */
    apr_uint32_t length;               /* lock; of the name */
    char name[VAULT_INTEREST_MAX + 8]; /* lock; NUL-terminated */
    apr_uint64_t mask[];               /* atomic; slots to be told of the next notify */
} vault_record_t;

_Static_assert(sizeof(vault_record_t) % 8 == 0, "the mask follows without a gap");

typedef struct vault_tables_t {
    _Alignas(64) apr_uint64_t free;  /* atomic; tag << 32 | first free record */
    _Alignas(64) apr_uint32_t fresh; /* atomic; records 1..fresh have been used */
    apr_uint32_t deaths;             /* atomic; owners of slots that did not leave in order */
    vault_stripe_t stripes[VAULT_STRIPES];
} vault_tables_t;

/** A child's place. Slot 0 uses the counters only. */
typedef struct vault_slot_t {
    _Alignas(64) vault_lock_t lock;
    apr_uint32_t head;                                /* lock; free-running: the next to take */
    apr_uint32_t tail;                                /* lock; free-running: where the next goes */
    apr_uint32_t all;                                 /* lock; everybody must be woken */
    apr_uint32_t rung;                                /* lock; the eventfd was written for what is queued */
    apr_int64_t pid;                                  /* atomic; 0: free */
    apr_uint32_t clean;                               /* atomic; the owner left in order */
    apr_uint32_t turn;                                /* atomic; raised when an owner is gone: leases name it */
    _Alignas(64) apr_uint32_t ring[VAULT_SLOT_QUEUE]; /* lock */
    _Alignas(64) vault_counters_t counters;           /* atomic, each */
} vault_slot_t;

_Static_assert((VAULT_SLOT_QUEUE & (VAULT_SLOT_QUEUE - 1)) == 0, "positions in the ring run free");

/** The handle: plain data, so that it outlives an unloading of this code. */
struct vault_notifier_t {
    vault_clock_t *clock;
    vault_tables_t *tables;
    apr_uint32_t *buckets; /* atomic, each; the first record of a chain */
    char *records;
    vault_slot_t *slots;
    apr_uint64_t seed;        /* of the hash of names, secret: names come from browsers too */
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

/** What was stored before stays before: a process killed around here leaves what was, or what is to be. */
static inline void vault_publish32(apr_uint32_t *word, apr_uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* ------------------------------------------------------------------- names */

/** A name that was looked at. The low bits of the hash are the stripe, and with more of them the bucket. */
typedef struct vault_key_t {
    const char *name; /* borrowed */
    apr_size_t length;
    apr_uint64_t hash;
} vault_key_t;

/** @return 0 the name is NULL, empty or too long */
int vault_key_make(const vault_notifier_t *n, const char *name, vault_key_t *key);

/* ----------------------------------------------------------------- stripes */

vault_stripe_t *vault_stripe_of(const vault_notifier_t *n, apr_uint64_t hash);

/** @return 1  the last owner died inside; it is repaired, and the caller notifies all once it has released the stripe
 *          0  otherwise */
int vault_stripe_acquire(vault_notifier_t *n, vault_stripe_t *stripe);

/** Lock the stripe that a record belongs to now.
 * @param died  set to 1 as vault_stripe_acquire() returns it, else left alone
 * @return NULL  the interest has no holders; nothing is locked */
vault_stripe_t *vault_record_lock(vault_notifier_t *n, vault_record_t *record, int *died);

/* ----------------------------------------------------------------- records */

/** The record of an index; NULL for 0 and what is past the table. */
static inline vault_record_t *vault_record_at(const vault_notifier_t *n, apr_uint32_t index)
{
    if (index == 0 || index > n->interests) {
        return NULL;
    }
    return (vault_record_t *)(n->records + (apr_size_t)(index - 1) * n->record_size);
}

/** @return 0 the name has no holders */
apr_uint32_t vault_record_find_locked(const vault_notifier_t *n, const vault_key_t *key);

/** Make an interest that is not there, with one holder. @return 0 the table is full */
apr_uint32_t vault_record_insert_locked(vault_notifier_t *n, vault_stripe_t *stripe, const vault_key_t *key);

/** Take away an interest whose last holder leaves. */
void vault_record_remove_locked(vault_notifier_t *n, vault_stripe_t *stripe, apr_uint32_t index);

/** The first thing that is wrong with chains, counts and free list, or NULL.
 * @param live  others go on meanwhile
 * @param died  as of vault_record_lock() */
const char *vault_records_check(vault_notifier_t *n, int live, int *died);

/* ------------------------------------------------------------------- slots */

/** Make the locks and eventfds of all slots. */
apr_status_t vault_slot_init(vault_notifier_t *n);

/** Queue an interest for a child and ring it.
 * @return 1  a process had died inside the queue: notify all
 *         0  otherwise */
int vault_slot_push(vault_notifier_t *n, unsigned slot, apr_uint32_t interest, vault_counters_t *counters);

/** Have everybody in a child woken, and ring it whether it was rung or not: the last ringer may have died before
 * it rang.
 * @return as vault_slot_push() */
int vault_slot_wake(vault_notifier_t *n, unsigned slot);

/** The first thing that is wrong with the slots, or NULL.
 * @param died  set to 1 as vault_slot_push() returns it, else left alone */
const char *vault_slot_check(vault_notifier_t *n, int *died);

#endif
