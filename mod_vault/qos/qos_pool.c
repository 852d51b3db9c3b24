/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file qos_pool.c
 * The pool of free passes, and how many of them each gate may take.
 *
 * Half of all passes is divided evenly among the gates of the configuration: each gate can always have its share. The
 * other half is for the gates that need more. A pass that is free goes back to the pool at once, so a flooded gate
 * keeps nothing from the others.
 *
 * A pass changes hands under two locks: that of its gate, then that of the pool. One store of `gate` does it. A
 * process that holds either lock therefore sees which passes the gate has. All else in the pool is counted anew when a
 * process has died in the lock.
 */
#include "base/now.h"
#include "qos/qos_table.h"

static int is_configured(const vault_qos_t *q, const qos_gate_t *gate)
{
    return gate->era == __atomic_load_n(&q->table->era, __ATOMIC_RELAXED);
}

static apr_uint32_t share_of(const vault_qos_t *q, const qos_gate_t *gate)
{
    return is_configured(q, gate) ? q->table->share : 0;
}

static apr_uint32_t least(apr_uint32_t a, apr_uint32_t b)
{
    return a < b ? a : b;
}

/* The number of passes within their shares that all gates have. */
static apr_uint32_t count_claimed(const vault_qos_t *q)
{
    apr_uint32_t i, claimed = 0;

    for (i = 1; i <= VAULT_QOS_ROOM; i++) {
        const qos_gate_t *gate = qos_gate_at(q, i);

        claimed += least(gate->held, share_of(q, gate));
    }
    return claimed;
}

static void recount_locked(const vault_qos_t *q)
{
    qos_table_t *t = q->table;
    apr_uint32_t i;

    t->free = t->used = t->gates = 0;
    for (i = 1; i <= VAULT_QOS_ROOM; i++) {
        qos_gate_at(q, i)->held = 0;
        t->gates += (apr_uint32_t)is_configured(q, qos_gate_at(q, i));
    }
    t->share = t->gates ? q->count / 2 / t->gates : 0;
    for (i = least(t->fresh, q->count); i; i--) {
        qos_pass_t *pass = qos_pass_at(q, i);
        qos_gate_t *gate = qos_gate_at(q, qos_pass_gate(pass));

        if (gate) {
            gate->held++;
            t->used++;
            continue;
        }
        pass->next = t->free;
        t->free = i;
    }
    t->claimed = count_claimed(q);
}

static void acquire(const vault_qos_t *q)
{
    if (vault_lock_acquire(&q->table->lock)) {
        recount_locked(q);
    }
}

void qos_pool_configure(const vault_qos_t *q, qos_gate_t *gate)
{
    acquire(q);
    if (gate) {
        gate->era = q->table->era;
    }
    else {
        __atomic_store_n(&q->table->era, q->table->era + 1, __ATOMIC_RELAXED);
    }
    recount_locked(q);
    vault_lock_release(&q->table->lock);
}

/* Beyond its share a gate may take passes that are not reserved for the shares of the others. */
static int may_take_locked(const vault_qos_t *q, const qos_gate_t *gate)
{
    const qos_table_t *t = q->table;
    apr_uint32_t left = q->count - t->used, reserved = t->share * t->gates - t->claimed;

    return gate->held < share_of(q, gate) ? left > 0 : left > reserved;
}

static apr_uint32_t take_locked(const vault_qos_t *q, qos_gate_t *gate)
{
    qos_table_t *t = q->table;
    apr_uint32_t index = t->free;

    if (index) {
        t->free = qos_pass_at(q, index)->next;
    }
    else if (t->fresh < q->count) {
        index = t->fresh + 1;
        __atomic_store_n(&t->fresh, index, __ATOMIC_RELEASE);
    }
    if (index) {
        __atomic_store_n(&qos_pass_at(q, index)->gate, qos_gate_index(q, gate), __ATOMIC_RELEASE);
        t->used++;
        t->claimed += gate->held++ < share_of(q, gate);
    }
    return index;
}

apr_uint32_t qos_pool_take(const vault_qos_t *q, qos_gate_t *gate)
{
    qos_table_t *t = q->table;
    apr_uint32_t index;

    acquire(q);
    index = may_take_locked(q, gate) ? take_locked(q, gate) : 0;
    if (!index) {
        t->shortages++;
        t->short_at = vault_now();
    }
    vault_lock_release(&t->lock);
    return index;
}

void qos_pool_give(const vault_qos_t *q, qos_gate_t *gate, apr_uint32_t index)
{
    qos_table_t *t = q->table;
    qos_pass_t *pass = qos_pass_at(q, index);

    acquire(q);
    if (qos_pass_gate(pass) == qos_gate_index(q, gate)) {
        __atomic_store_n(&pass->gate, 0, __ATOMIC_RELEASE);
        pass->next = t->free;
        t->free = index;
        t->used--;
        t->claimed -= --gate->held < share_of(q, gate);
    }
    vault_lock_release(&t->lock);
}

void vault_qos_usage(const vault_qos_t *q, vault_qos_usage_t *usage)
{
    const qos_table_t *t = q->table;

    acquire(q);
    usage->passes = q->count;
    usage->used = t->used;
    usage->share = t->share;
    usage->shortages = t->shortages;
    usage->short_at = t->short_at;
    vault_lock_release(&q->table->lock);
}

/* ------------------------------------------------------------------- checking */

static const char *check_locked(const vault_qos_t *q)
{
    const qos_table_t *t = q->table;
    const qos_pass_t *pass;
    apr_uint32_t index, used = 0, held = 0, free = 0;

    for (index = 1; index <= t->fresh; index++) {
        used += qos_pass_gate(qos_pass_at(q, index)) != 0;
    }
    for (index = 1; index <= VAULT_QOS_ROOM; index++) {
        held += qos_gate_at(q, index)->held;
    }
    for (index = t->free; (pass = qos_pass_at(q, index)); index = pass->next) {
        if (++free > q->count || qos_pass_gate(pass)) {
            return "a pass of a gate is in the pool";
        }
    }
    return used != t->used || held != used  ? "the pool has counted wrong"
           : free + used != t->fresh        ? "the pool has lost a pass"
           : t->claimed != count_claimed(q) ? "the pool has counted the shares wrong"
                                            : NULL;
}

const char *qos_pool_check(const vault_qos_t *q)
{
    const char *wrong;

    acquire(q);
    wrong = check_locked(q);
    vault_lock_release(&q->table->lock);
    return wrong;
}
