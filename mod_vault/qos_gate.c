/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file qos_gate.c
 * One gate: its passes, its queues, and how it is mended. Everything here is called with the gate's lock held.
 *
 * Each step stores the state of a pass first, then what follows from it, so that wherever a process is killed the states are right and
 * the rest can be made from them.
 */
#include "qos_table.h"

static void set_state(qos_pass_t *pass, apr_uint32_t state)
{
    __atomic_store_n(&pass->state, state, __ATOMIC_RELEASE);
}

/* -------------------------------------------------------------------- queues */

static void link_last(const vault_qos_t *q, qos_gate_t *gate, apr_uint32_t index)
{
    qos_pass_t *pass = qos_pass_at(q, index);
    qos_queue_t *queue = &gate->queues[pass->rank];

    pass->next = 0;
    pass->prev = queue->tail;
    if (queue->tail) {
        qos_pass_at(q, queue->tail)->next = index;
    }
    else {
        queue->head = index;
    }
    queue->tail = index;
    gate->queued++;
}

static void unlink_pass(const vault_qos_t *q, qos_gate_t *gate, const qos_pass_t *pass)
{
    qos_queue_t *queue = &gate->queues[pass->rank];

    if (pass->next) {
        qos_pass_at(q, pass->next)->prev = pass->prev;
    }
    else {
        queue->tail = pass->prev;
    }
    if (pass->prev) {
        qos_pass_at(q, pass->prev)->next = pass->next;
    }
    else {
        queue->head = pass->next;
    }
    gate->queued--;
}

static apr_uint32_t first_of_all(const qos_gate_t *gate)
{
    int rank = VAULT_QOS_RANK_MAX;

    while (rank > 0 && !gate->queues[rank].head) {
        rank--;
    }
    return gate->queues[rank].head;
}

/* --------------------------------------------------------------------- passes */

apr_uint32_t qos_gate_next(const vault_qos_t *q, const qos_gate_t *gate, apr_uint32_t index)
{
    apr_uint32_t own = qos_gate_index(q, gate), last = __atomic_load_n(&q->table->fresh, __ATOMIC_ACQUIRE);

    while (++index <= last && index <= q->count) {
        if (qos_pass_gate(qos_pass_at(q, index)) == own) {
            return index;
        }
    }
    return 0;
}

void qos_gate_append(const vault_qos_t *q, qos_gate_t *gate, apr_uint32_t index)
{
    qos_pass_t *pass = qos_pass_at(q, index);

    if (pass) {
        set_state(pass, QOS_QUEUED);
        link_last(q, gate, index);
    }
}

void qos_gate_free(const vault_qos_t *q, qos_gate_t *gate, apr_uint32_t index)
{
    qos_pass_t *pass = qos_pass_at(q, index);
    apr_uint32_t was;

    if (!pass) {
        return;
    }
    was = pass->state;
    set_state(pass, QOS_FREE);
    if (was == QOS_IN) {
        gate->in--;
    }
    else if (was == QOS_QUEUED) {
        unlink_pass(q, gate, pass);
    }
    qos_pool_give(q, gate, index);
}

apr_uint32_t qos_gate_admit(const vault_qos_t *q, qos_gate_t *gate)
{
    apr_uint32_t index = gate->in < gate->limit ? first_of_all(gate) : 0;

    if (index) {
        qos_pass_t *pass = qos_pass_at(q, index);
        set_state(pass, QOS_IN);
        unlink_pass(q, gate, pass);
        gate->in++;
        gate->admitted++;
    }
    return index;
}

/* -------------------------------------------------------------------- mending */

/* Two chains, each in order of arrival, into one. */
static apr_uint32_t merge(const vault_qos_t *q, apr_uint32_t a, apr_uint32_t b)
{
    apr_uint32_t head = 0, *end = &head;

    while (a && b) {
        apr_uint32_t *least = qos_pass_at(q, a)->ticket < qos_pass_at(q, b)->ticket ? &a : &b;

        *end = *least;
        end = &qos_pass_at(q, *least)->next;
        *least = *end;
    }
    *end = a ? a : b;
    return head;
}

/* Chains of 1, 2, 4 … passes are merged as bits are carried, so that a queue of any length costs n log n and no memory. */
static apr_uint32_t sort_by_arrival(const vault_qos_t *q, apr_uint32_t chain)
{
    apr_uint32_t carried[32] = {0}, sorted = 0;
    int bit;

    while (chain) {
        apr_uint32_t one = chain;

        chain = qos_pass_at(q, one)->next;
        qos_pass_at(q, one)->next = 0;
        for (bit = 0; carried[bit]; bit++) {
            one = merge(q, carried[bit], one);
            carried[bit] = 0;
        }
        carried[bit] = one;
    }
    for (bit = 0; bit < 32; bit++) {
        sorted = merge(q, carried[bit], sorted);
    }
    return sorted;
}

void qos_gate_mend(const vault_qos_t *q, qos_gate_t *gate)
{
    apr_uint32_t index, next, queued = 0, rank;
    qos_pass_t *pass;

    gate->in = gate->queued = 0;
    for (rank = 0; rank < QOS_RANKS; rank++) {
        gate->queues[rank].head = gate->queues[rank].tail = 0;
    }
    for (index = qos_gate_next(q, gate, 0); index; index = qos_gate_next(q, gate, index)) {
        pass = qos_pass_at(q, index);
        if (pass->state == QOS_QUEUED) {
            pass->next = queued;
            queued = index;
        }
        else if (pass->state == QOS_IN) {
            gate->in++;
        }
        else {
            qos_pool_give(q, gate, index);
        }
    }
    for (index = sort_by_arrival(q, queued); index; index = next) {
        next = qos_pass_at(q, index)->next;
        link_last(q, gate, index);
    }
}

int qos_gate_acquire(const vault_qos_t *q, qos_gate_t *gate)
{
    int died = vault_lock_acquire(&gate->lock);

    if (died) {
        qos_gate_mend(q, gate);
    }
    return died;
}

/* ------------------------------------------------------------------- checking */

static const char *check_queue(const vault_qos_t *q, const qos_gate_t *gate, apr_uint32_t rank, apr_uint32_t *length)
{
    const qos_pass_t *pass;
    apr_uint32_t index = gate->queues[rank].head, before = 0;
    apr_uint64_t ticket = 0;

    for (; index; before = index, index = pass->next) {
        pass = qos_pass_at(q, index);
        if (!pass || pass->state != QOS_QUEUED || pass->rank != rank || pass->prev != before) {
            return "a queue holds a pass that does not belong there";
        }
        if (pass->ticket <= ticket) {
            return "a queue is not in order of arrival";
        }
        if (++*length > q->count) {
            return "a queue has no end";
        }
        ticket = pass->ticket;
    }
    return gate->queues[rank].tail == before ? NULL : "a queue does not know its last";
}

const char *qos_gate_check(const vault_qos_t *q, const qos_gate_t *gate)
{
    apr_uint32_t in = 0, queued = 0, listed = 0, rank, index;
    const char *wrong;

    for (index = qos_gate_next(q, gate, 0); index; index = qos_gate_next(q, gate, index)) {
        const qos_pass_t *pass = qos_pass_at(q, index);

        if (pass->state == QOS_FREE || !vault_slot_pid(q->notifier, pass->slot)) {
            return "a gate has a pass that no request has";
        }
        *(pass->state == QOS_IN ? &in : &queued) += 1;
    }
    for (rank = 0; rank < QOS_RANKS; rank++) {
        if ((wrong = check_queue(q, gate, rank, &listed))) {
            return wrong;
        }
    }
    return in != gate->in || queued != gate->queued ? "a gate has counted wrong"
           : listed != queued                       ? "a queued pass is in no queue"
                                                    : NULL;
}
