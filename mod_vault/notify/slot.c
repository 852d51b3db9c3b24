/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file slot.c
 * The slot of a child in the segment: its wake queue, its clean mark and its counters.
 *
 * A slot is claimed by one compare-and-swap of its pid. It is freed, and its totals are moved to slot 0, in one
 * place only: when the parent learns that the process has ended. Until then a slot keeps its owner, so nothing
 * is counted twice.
 */
#include "notify/slot.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "notify/notifier_tables.h"

static int slot_valid(const vault_notifier_t *n, unsigned slot)
{
    return slot >= 1 && slot <= n->last_slot;
}

static void ring_fd(int fd)
{
    static const apr_uint64_t one = 1;

    /* EAGAIN: 2^64 - 2 writes have not been read, so the descriptor is readable anyway. */
    while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR) {
    }
}

static void silence_fd(int fd)
{
    apr_uint64_t rings;

    while (read(fd, &rings, sizeof(rings)) < 0 && errno == EINTR) {
    }
}

apr_status_t vault_slot_init(vault_notifier_t *n)
{
    apr_status_t rv = APR_SUCCESS;
    unsigned s;

    n->fds[0] = -1;
    for (s = 1; s <= n->last_slot; s++) {
        rv = vault_lock_init(&n->slots[s].lock);
        if (rv != APR_SUCCESS) {
            break;
        }
        n->fds[s] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        if (n->fds[s] < 0) {
            rv = errno;
            break;
        }
    }
    if (rv != APR_SUCCESS) {
        while (--s >= 1) {
            close(n->fds[s]);
        }
    }
    return rv;
}

/* ------------------------------------------------------------------- owners */

/* Counters are added to slot 0. Gauges are dropped, since what they measured ended with the child. */
static void fold_counters(vault_counters_t *total, vault_counters_t *dead)
{
    unsigned i;

#define FOLD(field, name, meaning) vault_count(total, field, __atomic_exchange_n(&dead->field, 0, __ATOMIC_RELAXED));
#define DROP(field, name, meaning) __atomic_store_n(&dead->field, 0, __ATOMIC_RELAXED);
    VAULT_COUNTERS(FOLD, DROP)
#undef FOLD
#undef DROP
    for (i = 0; i < VAULT_PERSONAL_COUNT; i++) {
        vault_count(total, personal[i], __atomic_exchange_n(&dead->personal[i], 0, __ATOMIC_RELAXED));
    }
}

/* The queue was meant for the waiters of the last owner. */
static void clear_queue_locked(vault_slot_t *q)
{
    q->head = q->tail;
    q->all = 0;
    q->rung = 0;
}

apr_status_t vault_slot_claim(vault_notifier_t *n, pid_t pid, unsigned *slot)
{
    unsigned s;

    /* A slot with this process's own pid belongs to a dead process that had the same pid and whose end was not
     * reported. */
    vault_slot_exited(n, pid, slot);
    *slot = 0;
    for (s = 1; s <= n->last_slot; s++) {
        vault_slot_t *q = &n->slots[s];
        apr_int64_t none = 0;
        int died;

        /* Sequentially consistent, as the read in vault_notifier_all() is: if that misses this slot, arming
         * reads the floor that it has raised. */
        if (!__atomic_compare_exchange_n(&q->pid, &none, (apr_int64_t)pid, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
            continue;
        }
        /* The descriptor is drained first: a write that comes between the two steps is then extraneous. In the
         * other order it would be lost. */
        silence_fd(n->fds[s]);
        died = vault_lock_acquire(&q->lock);
        clear_queue_locked(q);
        vault_lock_release(&q->lock);
        if (died) {
            vault_notifier_all(n, s);
        }
        *slot = s;
        return APR_SUCCESS;
    }
    return APR_ENOSPC;
}

void vault_slot_leave(vault_notifier_t *n, unsigned slot)
{
    if (slot_valid(n, slot)) {
        __atomic_store_n(&n->slots[slot].clean, 1, __ATOMIC_RELEASE);
    }
}

/* Frees the slot if it still belongs to that process.
 * @return 1: it left in order; 0: it did not; -1: the slot is not its own */
static int free_slot(vault_notifier_t *n, unsigned slot, pid_t pid)
{
    vault_slot_t *q = &n->slots[slot];
    int died = vault_lock_acquire(&q->lock);
    int clean = -1;

    if (vault_slot_pid(n, slot) == pid) {
        clean = __atomic_load_n(&q->clean, __ATOMIC_ACQUIRE);
        fold_counters(&n->slots[0].counters, &q->counters);
        clear_queue_locked(q);
        __atomic_store_n(&q->clean, 0, __ATOMIC_RELAXED);
        __atomic_add_fetch(&q->turn, 1, __ATOMIC_SEQ_CST);
        if (!clean) {
            __atomic_add_fetch(&n->tables->deaths, 1, __ATOMIC_SEQ_CST);
        }
        __atomic_store_n(&q->pid, 0, __ATOMIC_SEQ_CST);
    }
    vault_lock_release(&q->lock);
    if (died || clean == 0) {
        vault_notifier_all(n, 0);
    }
    return clean;
}

int vault_slot_exited(vault_notifier_t *n, pid_t pid, unsigned *slot)
{
    unsigned s = vault_slot_of(n, pid);
    int clean = s ? free_slot(n, s, pid) : -1;

    *slot = clean >= 0 ? s : 0;
    return clean == 0;
}

/* ------------------------------------------------------------------- leases */

vault_lease_t vault_slot_lease(const vault_notifier_t *n, unsigned slot)
{
    if (!slot_valid(n, slot)) {
        return 0;
    }
    return (vault_lease_t)slot << 32 | __atomic_load_n(&n->slots[slot].turn, __ATOMIC_SEQ_CST);
}

int vault_lease_is_expired(const vault_notifier_t *n, vault_lease_t lease)
{
    return lease && vault_slot_lease(n, (unsigned)(lease >> 32)) != lease;
}

apr_uint32_t vault_slot_deaths(const vault_notifier_t *n)
{
    return __atomic_load_n(&n->tables->deaths, __ATOMIC_SEQ_CST);
}

/* -------------------------------------------------------------------- queue */

int vault_slot_push(vault_notifier_t *n, unsigned slot, apr_uint32_t interest, vault_counters_t *counters)
{
    vault_slot_t *q = &n->slots[slot];
    int died = vault_lock_acquire(&q->lock);
    int first;

    if (q->all) {
        /* All waiters will be woken anyway. */
    }
    else if (q->tail - q->head >= VAULT_SLOT_QUEUE) {
        q->all = 1;
        vault_count(counters, overflows, 1);
    }
    else {
        q->ring[q->tail % VAULT_SLOT_QUEUE] = interest;
        q->tail++;
    }
    first = !q->rung;
    q->rung = 1;
    vault_lock_release(&q->lock);
    if (first) {
        ring_fd(n->fds[slot]);
    }
    return died;
}

int vault_slot_wake(vault_notifier_t *n, unsigned slot)
{
    vault_slot_t *q = &n->slots[slot];
    int died = vault_lock_acquire(&q->lock);

    q->all = 1;
    q->rung = 1;
    vault_lock_release(&q->lock);
    ring_fd(n->fds[slot]);
    return died;
}

/* Moves at most `max` entries out of the ring. If some stay, the caller writes the descriptor again. */
static unsigned take_locked(vault_slot_t *q, vault_interest_t *list, unsigned max)
{
    unsigned taken = 0;

    while (q->head != q->tail && taken < max) {
        list[taken++] = q->ring[q->head++ % VAULT_SLOT_QUEUE];
    }
    return taken;
}

int vault_slot_drain(vault_notifier_t *n, unsigned slot, vault_interest_t *list, unsigned max, unsigned *count)
{
    vault_slot_t *q;
    int died, all, left;

    *count = 0;
    if (!slot_valid(n, slot)) {
        return 0;
    }
    q = &n->slots[slot];
    died = vault_lock_acquire(&q->lock);
    /* An impossible fill level comes from corrupted memory, so nothing in the ring is trusted. */
    all = q->all || q->tail - q->head > VAULT_SLOT_QUEUE;
    if (all) {
        clear_queue_locked(q);
    }
    else {
        *count = take_locked(q, list, max);
    }
    left = q->head != q->tail;
    q->rung = (apr_uint32_t)left;
    vault_lock_release(&q->lock);
    if (left) {
        ring_fd(n->fds[slot]);
    }
    if (died) {
        vault_notifier_all(n, slot);
    }
    return all;
}

void vault_slot_ring(const vault_notifier_t *n, unsigned slot)
{
    if (slot_valid(n, slot)) {
        ring_fd(n->fds[slot]);
    }
}

/* ------------------------------------------------------------------ inspection */

int vault_slot_fd(const vault_notifier_t *n, unsigned slot)
{
    return slot_valid(n, slot) ? n->fds[slot] : -1;
}

pid_t vault_slot_pid(const vault_notifier_t *n, unsigned slot)
{
    return slot_valid(n, slot) ? (pid_t)__atomic_load_n(&n->slots[slot].pid, __ATOMIC_SEQ_CST) : 0;
}

unsigned vault_slot_of(const vault_notifier_t *n, pid_t pid)
{
    unsigned s;

    for (s = 1; pid > 0 && s <= n->last_slot; s++) {
        if (vault_slot_pid(n, s) == pid) {
            return s;
        }
    }
    return 0;
}

unsigned vault_slot_last(const vault_notifier_t *n)
{
    return n->last_slot;
}

vault_counters_t *vault_slot_counters(const vault_notifier_t *n, unsigned slot)
{
    return &n->slots[slot_valid(n, slot) ? slot : 0].counters;
}

static const char *check_queue_locked(vault_notifier_t *n, unsigned slot)
{
    const vault_slot_t *q = &n->slots[slot];
    apr_uint32_t i;

    if (q->tail - q->head > VAULT_SLOT_QUEUE) {
        return "a queue holds more entries than it has room for";
    }
    for (i = q->head; i != q->tail; i++) {
        apr_uint32_t entry = q->ring[i % VAULT_SLOT_QUEUE];

        if (!vault_record_at(n, entry)) {
            return "a queue holds an impossible interest";
        }
    }
    /* In this order: a child that leaves in order has its slot, and the slot is freed under the lock. */
    return __atomic_load_n(&q->clean, __ATOMIC_SEQ_CST) && !vault_slot_pid(n, slot)
               ? "a slot without an owner is marked as left"
               : NULL;
}

static const char *check_owner(const vault_notifier_t *n, unsigned slot)
{
    pid_t pid = vault_slot_pid(n, slot);
    unsigned s;

    for (s = slot + 1; pid && s <= n->last_slot; s++) {
        if (vault_slot_pid(n, s) == pid) {
            return "a process owns two slots";
        }
    }
    return NULL;
}

const char *vault_slot_check(vault_notifier_t *n, int *died)
{
    const char *wrong = NULL;
    unsigned s;

    for (s = 1; s <= n->last_slot && !wrong; s++) {
        *died |= vault_lock_acquire(&n->slots[s].lock);
        wrong = check_queue_locked(n, s);
        vault_lock_release(&n->slots[s].lock);
        if (!wrong) {
            wrong = check_owner(n, s);
        }
    }
    return wrong;
}
