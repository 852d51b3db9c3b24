/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file notifier_tables.c
 * The table of interests: how records are found, created, removed and repaired. notifier_tables.h has the layout.
 */
#include "notify/notifier_tables.h"

#include <string.h>

#include "base/hash.h"

/* -------------------------------------------------------------------- names */

int vault_key_make(const vault_notifier_t *n, const char *name, vault_key_t *key)
{
    key->name = name;
    key->length = name ? strnlen(name, VAULT_INTEREST_MAX + 1) : 0;
    if (key->length == 0 || key->length > VAULT_INTEREST_MAX) {
        return 0;
    }
    key->hash = vault_hash(n->seed, name, key->length);
    return 1;
}

/* ------------------------------------------------------------------ records */

/* Takes a record from the free list, or one that was never used. */
static apr_uint32_t record_take(vault_notifier_t *n)
{
    vault_tables_t *t = n->tables;
    apr_uint64_t top = __atomic_load_n(&t->free, __ATOMIC_ACQUIRE);
    apr_uint32_t fresh;
    vault_record_t *record;

    while ((record = vault_record_at(n, (apr_uint32_t)top)) != NULL) {
        /* Another thread may take and fill this record while `next` is read. Then the tag has changed, and the swap
         * fails. */
        apr_uint64_t rest = ((top >> 32) + 1) << 32 | vault_load32(&record->next);

        if (__atomic_compare_exchange_n(&t->free, &top, rest, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
            return (apr_uint32_t)top;
        }
    }
    fresh = vault_load32(&t->fresh);
    while (fresh < n->interests) {
        if (__atomic_compare_exchange_n(&t->fresh, &fresh, fresh + 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            return fresh + 1;
        }
    }
    return 0;
}

static void record_give(vault_notifier_t *n, apr_uint32_t index)
{
    vault_record_t *record = vault_record_at(n, index);
    apr_uint64_t top = __atomic_load_n(&n->tables->free, __ATOMIC_RELAXED);

    do {
        __atomic_store_n(&record->next, (apr_uint32_t)top, __ATOMIC_RELAXED);
    } while (!__atomic_compare_exchange_n(&n->tables->free, &top, ((top >> 32) + 1) << 32 | index, 0, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
}

/* ------------------------------------------------------------------ stripes */

vault_stripe_t *vault_stripe_of(const vault_notifier_t *n, apr_uint64_t hash)
{
    return &n->tables->stripes[hash % VAULT_STRIPES];
}

static apr_uint32_t *bucket_of(const vault_notifier_t *n, apr_uint64_t hash)
{
    return &n->buckets[hash & n->bucket_mask];
}

/* Repairs one chain after the death of a lock owner: finishes removals that had begun, and cuts links that lead to no
 * record. The number of steps is bounded, so a cycle made by a stray write is cut too. Then the count begins again. */
static apr_uint32_t repair_chain_locked(vault_notifier_t *n, apr_uint32_t *bucket)
{
    apr_uint32_t held = 0, index, *link = bucket;

    while ((index = vault_load32(link)) != 0) {
        vault_record_t *record = vault_record_at(n, index);

        if (!record) {
            vault_publish32(link, 0);
        }
        else if (held > n->interests) {
            vault_publish32(link, 0);
            link = bucket;
            held = 0;
        }
        else if (vault_load32(&record->holders) == 0) {
            vault_publish32(link, vault_load32(&record->next));
            record_give(n, index);
        }
        else {
            held++;
            link = &record->next;
        }
    }
    return held;
}

int vault_stripe_acquire(vault_notifier_t *n, vault_stripe_t *stripe)
{
    apr_uint64_t bucket;
    apr_uint32_t held = 0;

    if (!vault_lock_acquire(&stripe->lock)) {
        return 0;
    }
    for (bucket = (apr_uint64_t)(stripe - n->tables->stripes); bucket <= n->bucket_mask; bucket += VAULT_STRIPES) {
        held += repair_chain_locked(n, &n->buckets[bucket]);
    }
    vault_publish32(&stripe->held, held);
    if (n->held) {
        vault_journal_lose(n->held);
    }
    return 1;
}

/* The hash of a record changes only while the record has no holders, and it is written before the holders are. So if
 * there are holders, either the hash that was read is theirs, or it reads differently now. */
vault_stripe_t *vault_record_lock(vault_notifier_t *n, vault_record_t *record, int *died)
{
    for (;;) {
        vault_stripe_t *stripe = vault_stripe_of(n, __atomic_load_n(&record->hash, __ATOMIC_RELAXED));
        int held;

        *died |= vault_stripe_acquire(n, stripe);
        held = __atomic_load_n(&record->holders, __ATOMIC_ACQUIRE) != 0;
        if (held && vault_stripe_of(n, __atomic_load_n(&record->hash, __ATOMIC_RELAXED)) == stripe) {
            return stripe;
        }
        vault_lock_release(&stripe->lock);
        if (!held) {
            return NULL;
        }
    }
}

/* ------------------------------------------------------------ under a stripe */

/* Reported under the lock: a process that is killed before it has reported leaves the lock to the next owner, which
 * makes the journal lose entries. */
static void report_locked(vault_notifier_t *n, apr_uint32_t index)
{
    if (n->held) {
        vault_journal_append(n->held, &index, sizeof(index));
    }
}

apr_uint32_t vault_record_find_locked(const vault_notifier_t *n, const vault_key_t *key)
{
    apr_uint32_t index = vault_load32(bucket_of(n, key->hash));
    vault_record_t *record;
    apr_uint32_t steps;

    for (steps = 0; (record = vault_record_at(n, index)) != NULL && steps <= n->interests; steps++) {
        if (__atomic_load_n(&record->hash, __ATOMIC_RELAXED) == key->hash && record->length == key->length &&
            !memcmp(record->name, key->name, key->length)) {
            return index;
        }
        index = vault_load32(&record->next);
    }
    return 0;
}

apr_uint32_t vault_record_insert_locked(vault_notifier_t *n, vault_stripe_t *stripe, const vault_key_t *key)
{
    apr_uint32_t *bucket = bucket_of(n, key->hash);
    apr_uint32_t index = record_take(n);
    vault_record_t *record = vault_record_at(n, index);
    unsigned word;

    if (!record) {
        return 0;
    }
    __atomic_store_n(&record->hash, key->hash, __ATOMIC_RELAXED);
    record->length = (apr_uint32_t)key->length;
    memcpy(record->name, key->name, key->length);
    record->name[key->length] = '\0';
    for (word = 0; word < VAULT_MASK_WORDS(n->last_slot); word++) {
        __atomic_store_n(&record->mask[word], 0, __ATOMIC_RELAXED);
    }
    /* A new number, not the current value of the clock. A notify of this name while it had no holders took no number.
     * So a page that held the name before, and whose stamp equals the clock, would find that nothing has changed. */
    __atomic_store_n(&record->stamp, vault_clock_tick(n->clock), __ATOMIC_RELAXED);
    __atomic_store_n(&record->next, vault_load32(bucket), __ATOMIC_RELAXED);
    vault_publish32(&record->holders, 1);
    vault_publish32(&stripe->held, vault_load32(&stripe->held) + 1);
    vault_publish32(bucket, index);
    report_locked(n, index);
    return index;
}

/* The last holder has left. If the process is killed before the end, the record stays in the chain without holders, and
 * the repair finishes the removal. */
void vault_record_remove_locked(vault_notifier_t *n, vault_stripe_t *stripe, apr_uint32_t index)
{
    vault_record_t *record = vault_record_at(n, index);
    apr_uint32_t *link = bucket_of(n, __atomic_load_n(&record->hash, __ATOMIC_RELAXED));
    apr_uint32_t at, steps = 0;

    vault_publish32(&record->holders, 0);
    /* A page that still has the index sees that the stamp has moved, and asks by name again. */
    __atomic_store_n(&record->stamp, vault_clock_tick(n->clock), __ATOMIC_RELEASE);
    while ((at = vault_load32(link)) != index) {
        vault_record_t *other = vault_record_at(n, at);

        if (!other || steps++ > n->interests) {
            /* a stray write was here, and the record is not in its chain: losing it is better than having it in two
             * lists */
            return;
        }
        link = &other->next;
    }
    vault_publish32(link, vault_load32(&record->next));
    vault_publish32(&stripe->held, vault_load32(&stripe->held) - 1);
    record_give(n, index);
    report_locked(n, index);
}

/* -------------------------------------------------------------------- check */

/* The first inconsistency of a record in a chain, or NULL. */
static const char *check_record_locked(vault_notifier_t *n, apr_uint32_t index, const apr_uint32_t *bucket)
{
    vault_record_t *record = vault_record_at(n, index);
    vault_key_t key;

    if (!record) {
        return "a chain leads out of the table";
    }
    if (index > vault_load32(&n->tables->fresh)) {
        return "a record in use was never taken";
    }
    if (record->holders == 0) {
        return "an interest without holders is in a chain";
    }
    if (!vault_key_make(n, record->name, &key) || key.length != record->length || key.hash != record->hash) {
        return "a name does not fit its length or hash";
    }
    if (bucket_of(n, key.hash) != bucket) {
        return "an interest is in the wrong chain";
    }
    if (vault_record_find_locked(n, &key) != index) {
        return "two interests have one name";
    }
    if (record->stamp > __atomic_load_n(&n->clock->now, __ATOMIC_SEQ_CST)) {
        return "a stamp is ahead of the clock";
    }
    return NULL;
}

static const char *check_stripe_locked(vault_notifier_t *n, vault_stripe_t *stripe)
{
    apr_uint64_t bucket;
    apr_uint32_t held = 0;

    for (bucket = (apr_uint64_t)(stripe - n->tables->stripes); bucket <= n->bucket_mask; bucket += VAULT_STRIPES) {
        apr_uint32_t index = n->buckets[bucket];

        while (index) {
            const char *wrong = check_record_locked(n, index, &n->buckets[bucket]);

            if (wrong) {
                return wrong;
            }
            if (++held > n->interests) {
                return "a chain has no end";
            }
            index = vault_record_at(n, index)->next;
        }
    }
    return held == stripe->held ? NULL : "the count of a stripe is not that of its chains";
}

/* If another thread removes the record that is being read, the walk continues in another chain, which ends as well. */
static const char *check_free(vault_notifier_t *n, int live)
{
    apr_uint32_t index = (apr_uint32_t)__atomic_load_n(&n->tables->free, __ATOMIC_ACQUIRE);
    apr_uint32_t count = 0;

    while (index) {
        vault_record_t *record = vault_record_at(n, index);

        if (!record || index > vault_load32(&n->tables->fresh)) {
            return "the free list leads out of the table";
        }
        if (!live && record->holders) {
            return "an interest in use is in the free list";
        }
        if (++count > n->interests) {
            return "the free list has no end";
        }
        index = vault_load32(&record->next);
    }
    /* A smaller count is possible: a process that was killed between the list and a chain loses the one record it was
     * moving. */
    if (!live && count + vault_interest_count(n) > n->tables->fresh) {
        return "there are more records than were taken";
    }
    return NULL;
}

const char *vault_records_check(vault_notifier_t *n, int live, int *died)
{
    const char *wrong = NULL;
    int i;

    for (i = 0; i < VAULT_STRIPES && !wrong; i++) {
        vault_stripe_t *stripe = &n->tables->stripes[i];

        *died |= vault_stripe_acquire(n, stripe);
        wrong = check_stripe_locked(n, stripe);
        vault_lock_release(&stripe->lock);
    }
    return wrong ? wrong : check_free(n, live);
}
