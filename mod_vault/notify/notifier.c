/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file notifier.c
 * Interests in shared memory: the hash table, the stamps, and which children are woken.
 *
 * notifier.h has the rules and notifier_tables.h the layout. Every lookup takes the lock of its stripe, also that of a
 * notify that finds nothing. A lookup without the lock would need a full fence after the commit of the writer and
 * another one after the insert of the reader, and that costs no less than an uncontended lock.
 */
#include "notify/notifier.h"

#include <string.h>

#include "notify/notifier_tables.h"

#define ALIGN64(size) (((apr_uint64_t)(size) + 63) & ~(apr_uint64_t)63)

/* ------------------------------------------------------------------- create */

static apr_uint32_t record_size(const vault_limits_t *limits)
{
    return (apr_uint32_t)ALIGN64(sizeof(vault_record_t) + VAULT_MASK_WORDS(limits->slots) * sizeof(apr_uint64_t));
}

/* Twice as many as interests, so that the bucket of a name without holders is empty most of the time. */
static apr_uint64_t bucket_count(const vault_limits_t *limits)
{
    apr_uint64_t count = VAULT_STRIPES;

    while (count < 2 * (apr_uint64_t)limits->interests) {
        count *= 2;
    }
    return count;
}

apr_uint64_t vault_notifier_space(const vault_limits_t *limits)
{
    return ALIGN64(sizeof(vault_tables_t)) + ALIGN64(bucket_count(limits) * sizeof(apr_uint32_t)) +
           (apr_uint64_t)limits->interests * record_size(limits) +
           ((apr_uint64_t)limits->slots + 1) * sizeof(vault_slot_t) + 4096;
}

static void *carve(vault_segment_t *segment, apr_uint64_t size)
{
    return vault_segment_at(segment, vault_segment_carve(segment, size), size);
}

static apr_status_t init_stripes(vault_tables_t *tables)
{
    int i;

    for (i = 0; i < VAULT_STRIPES; i++) {
        apr_status_t rv = vault_lock_init(&tables->stripes[i].lock);

        if (rv != APR_SUCCESS) {
            return rv;
        }
    }
    return APR_SUCCESS;
}

apr_status_t vault_notifier_create(vault_notifier_t **notifier, vault_segment_t *segment, apr_pool_t *pool)
{
    const vault_limits_t *limits = vault_segment_limits(segment);
    vault_notifier_t *n;
    apr_status_t rv;

    *notifier = NULL;
    if (limits->interests == 0 || limits->interests > APR_INT32_MAX || limits->slots == 0 ||
        limits->slots > VAULT_SLOTS_MAX) {
        return APR_EINVAL;
    }
    if (vault_notifier_space(limits) > vault_segment_left(segment)) {
        return APR_ENOSPC;
    }
    n = apr_pcalloc(pool, sizeof(*n) + (limits->slots + 1) * sizeof(n->fds[0]));
    n->interests = limits->interests;
    n->last_slot = limits->slots;
    n->record_size = record_size(limits);
    n->bucket_mask = (apr_uint32_t)(bucket_count(limits) - 1);
    n->seed = vault_segment_boot(segment);
    n->clock = vault_segment_clock(segment);
    n->tables = carve(segment, sizeof(*n->tables));
    n->buckets = carve(segment, bucket_count(limits) * sizeof(*n->buckets));
    n->records = carve(segment, (apr_uint64_t)n->interests * n->record_size);
    n->slots = carve(segment, ((apr_uint64_t)n->last_slot + 1) * sizeof(*n->slots));
    if (!n->tables || !n->buckets || !n->records || !n->slots) {
        return APR_ENOSPC;
    }
    rv = init_stripes(n->tables);
    if (rv == APR_SUCCESS) {
        rv = vault_slot_init(n);
    }
    if (rv == APR_SUCCESS) {
        *notifier = n;
    }
    return rv;
}

void vault_notifier_report_to(vault_notifier_t *n, vault_journal_t *held)
{
    n->held = held;
}

/* max(stamp, floor). The floor is read last, see vault_interest_arm(). */
static apr_uint64_t effective(const vault_notifier_t *n, const vault_record_t *record)
{
    apr_uint64_t stamp = __atomic_load_n(&record->stamp, __ATOMIC_ACQUIRE);
    apr_uint64_t floor = vault_clock_floor(n->clock);

    return stamp > floor ? stamp : floor;
}

/* Move the stamp, then take the bits of the children to wake. In this order a child that arms between the two steps
 * sees the stamp. The number is taken under the lock of the stripe, so the stamp never decreases.
 * @return 0: no child has armed it */
static int stamp_locked(vault_notifier_t *n, vault_record_t *record, apr_uint64_t *mask)
{
    apr_uint64_t any = 0;
    unsigned word;

    __atomic_store_n(&record->stamp, vault_clock_tick(n->clock), __ATOMIC_RELEASE);
    for (word = 0; word < VAULT_MASK_WORDS(n->last_slot); word++) {
        mask[word] = __atomic_load_n(&record->mask[word], __ATOMIC_RELAXED);
        if (mask[word]) {
            __atomic_store_n(&record->mask[word], 0, __ATOMIC_RELEASE);
            any |= mask[word];
        }
    }
    return any != 0;
}

/* ---------------------------------------------------------------- interests */

apr_status_t vault_interest_hold(vault_notifier_t *n, const char *name, vault_interest_t *interest, apr_uint64_t *stamp)
{
    vault_key_t key;
    vault_stripe_t *stripe;
    apr_uint32_t index;
    int died;

    *interest = 0;
    *stamp = 0;
    if (!vault_key_make(n, name, &key)) {
        return APR_EINVAL;
    }
    stripe = vault_stripe_of(n, key.hash);
    died = vault_stripe_acquire(n, stripe);
    index = vault_record_find_locked(n, &key);
    if (index) {
        vault_record_t *record = vault_record_at(n, index);

        vault_publish32(&record->holders, vault_load32(&record->holders) + 1);
    }
    else {
        index = vault_record_insert_locked(n, stripe, &key);
    }
    if (index) {
        *interest = index;
        *stamp = effective(n, vault_record_at(n, index));
    }
    vault_lock_release(&stripe->lock);
    if (died) {
        vault_notifier_all(n, 0);
    }
    return index ? APR_SUCCESS : APR_ENOSPC;
}

void vault_interest_release(vault_notifier_t *n, vault_interest_t interest)
{
    vault_record_t *record = vault_record_at(n, interest);
    vault_stripe_t *stripe;
    int died = 0;

    if (!record) {
        return;
    }
    stripe = vault_record_lock(n, record, &died);
    if (stripe) {
        apr_uint32_t holders = vault_load32(&record->holders) - 1;

        if (holders) {
            vault_publish32(&record->holders, holders);
        }
        else {
            vault_record_remove_locked(n, stripe, interest);
        }
        vault_lock_release(&stripe->lock);
    }
    if (died) {
        vault_notifier_all(n, 0);
    }
}

apr_uint64_t vault_interest_stamp(vault_notifier_t *n, vault_interest_t interest)
{
    vault_record_t *record = vault_record_at(n, interest);

    return record ? effective(n, record) : vault_clock_floor(n->clock);
}

apr_uint64_t vault_interest_arm(vault_notifier_t *n, vault_interest_t interest, unsigned slot)
{
    vault_record_t *record = vault_record_at(n, interest);
    int died = 0;

    if (record && slot >= 1 && slot <= n->last_slot) {
        vault_stripe_t *stripe = vault_record_lock(n, record, &died);

        if (stripe) {
            apr_uint64_t *word = &record->mask[slot / 64];

            __atomic_store_n(word, __atomic_load_n(word, __ATOMIC_RELAXED) | APR_UINT64_C(1) << (slot % 64),
                             __ATOMIC_RELAXED);
            vault_lock_release(&stripe->lock);
        }
        if (died) {
            vault_notifier_all(n, slot);
        }
    }
    /* vault_notifier_all() takes no stripe. It raises the floor, then wakes each child, which goes through its lists.
     * The caller has put itself into such a list, and reads the floor here. If both do this at once, at least one of
     * them must see the store of the other (Dekker's algorithm). This needs a full fence between the store and the load
     * on both sides; release and acquire are not enough. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return vault_interest_stamp(n, interest);
}

void vault_interest_name(vault_notifier_t *n, vault_interest_t interest, char *name, apr_size_t size)
{
    vault_record_t *record = vault_record_at(n, interest);
    vault_stripe_t *stripe = NULL;
    int died = 0;

    if (size == 0) {
        return;
    }
    name[0] = '\0';
    if (record) {
        stripe = vault_record_lock(n, record, &died);
    }
    if (stripe) {
        apr_size_t length = strnlen(record->name, size - 1 < VAULT_INTEREST_MAX ? size - 1 : VAULT_INTEREST_MAX);

        memcpy(name, record->name, length);
        name[length] = '\0';
        vault_lock_release(&stripe->lock);
    }
    if (died) {
        vault_notifier_all(n, 0);
    }
}

apr_uint32_t vault_interest_holders(const vault_notifier_t *n, vault_interest_t interest)
{
    const vault_record_t *record = vault_record_at(n, interest);

    return record ? vault_load32(&record->holders) : 0;
}

vault_interest_t vault_notifier_interests(const vault_notifier_t *n)
{
    return n->interests;
}

apr_uint32_t vault_interest_count(const vault_notifier_t *n)
{
    apr_uint32_t count = 0;
    int i;

    for (i = 0; i < VAULT_STRIPES; i++) {
        count += vault_load32(&n->tables->stripes[i].held);
    }
    return count;
}

/* ------------------------------------------------------------- notification */

/* @return 1: a process has died while it held the lock of a queue */
static int push_to(vault_notifier_t *n, const apr_uint64_t *mask, apr_uint32_t index, vault_counters_t *counters)
{
    unsigned word;
    int died = 0;

    for (word = 0; word < VAULT_MASK_WORDS(n->last_slot); word++) {
        apr_uint64_t bits;

        for (bits = mask[word]; bits; bits &= bits - 1) {
            unsigned slot = word * 64 + (unsigned)__builtin_ctzll(bits);

            if (slot >= 1 && slot <= n->last_slot) {
                died |= vault_slot_push(n, slot, index, counters);
            }
        }
    }
    return died;
}

apr_status_t vault_notifier_notify(vault_notifier_t *n, const char *name, unsigned slot)
{
    vault_counters_t *counters = vault_slot_counters(n, slot);
    apr_uint64_t mask[VAULT_MASK_WORDS(VAULT_SLOTS_MAX)];
    vault_key_t key;
    vault_stripe_t *stripe;
    apr_uint32_t index;
    int died, armed = 0;

    if (!vault_key_make(n, name, &key)) {
        return APR_EINVAL;
    }
    vault_count(counters, notifies, 1);
    stripe = vault_stripe_of(n, key.hash);
    died = vault_stripe_acquire(n, stripe);
    index = vault_record_find_locked(n, &key);
    if (index) {
        armed = stamp_locked(n, vault_record_at(n, index), mask);
    }
    vault_lock_release(&stripe->lock);
    if (index) {
        vault_count(counters, notifies_held, 1);
    }
    if (armed) {
        died |= push_to(n, mask, index, counters);
    }
    if (died) {
        vault_notifier_all(n, slot);
    }
    return index ? APR_SUCCESS : APR_NOTFOUND;
}

void vault_notifier_notify_interest(vault_notifier_t *n, vault_interest_t interest, unsigned slot)
{
    vault_counters_t *counters = vault_slot_counters(n, slot);
    apr_uint64_t mask[VAULT_MASK_WORDS(VAULT_SLOTS_MAX)];
    vault_record_t *record = vault_record_at(n, interest);
    vault_stripe_t *stripe = NULL;
    int died = 0, armed = 0;

    vault_count(counters, notifies, 1);
    if (record) {
        stripe = vault_record_lock(n, record, &died);
    }
    if (stripe) {
        armed = stamp_locked(n, record, mask);
        vault_lock_release(&stripe->lock);
        vault_count(counters, notifies_held, 1);
    }
    if (armed) {
        died |= push_to(n, mask, interest, counters);
    }
    if (died) {
        vault_notifier_all(n, slot);
    }
}

void vault_notifier_all(vault_notifier_t *n, unsigned slot)
{
    int died;

    vault_count(vault_slot_counters(n, slot), notify_alls, 1);
    do {
        unsigned s;

        died = 0;
        vault_clock_raise(n->clock);
        /* The floor is raised before the slots are read. If this function misses the claim of a child, that child reads
         * the new floor when it arms. */
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        for (s = 1; s <= n->last_slot; s++) {
            if (vault_slot_pid(n, s)) {
                died |= vault_slot_wake(n, s);
            }
        }
        /* The process that died in a queue may not have woken all the children it had to, and may have woken some of
         * them before it stamped. So every child is woken once more. */
    } while (died);
}

apr_uint64_t vault_notifier_now(const vault_notifier_t *n)
{
    return __atomic_load_n(&n->clock->now, __ATOMIC_SEQ_CST);
}

static const char *check(vault_notifier_t *n, int live)
{
    int died = 0;
    const char *wrong = vault_records_check(n, live, &died);
    apr_uint64_t floor = vault_clock_floor(n->clock); /* read before the clock, which may advance meanwhile */

    if (!wrong && floor > vault_notifier_now(n)) {
        wrong = "the floor is ahead of the clock";
    }
    if (!wrong) {
        wrong = vault_slot_check(n, &died);
    }
    if (died) {
        vault_notifier_all(n, 0);
    }
    return wrong;
}

const char *vault_notifier_check(vault_notifier_t *n)
{
    return check(n, 0);
}

const char *vault_notifier_check_live(vault_notifier_t *n)
{
    return check(n, 1);
}
