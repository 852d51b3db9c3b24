/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file qos_gate.c
 * One gate: its passes, which request is admitted or displaced next, and the recovery of its data. Everything
 * here is called with the gate's lock held.
 *
 * Each step stores the state of a pass first, and then what is derived from it. So wherever a process is
 * killed, the states are right and the rest can be rebuilt.
 */
#include "qos/qos_table.h"

static void set_state(qos_pass_t *pass, apr_uint32_t state)
{
    __atomic_store_n(&pass->state, state, __ATOMIC_RELEASE);
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

/* The number of admitted requests of a client affects its order in each queue. */
static void reschedule(const vault_qos_t *q, qos_gate_t *gate, apr_uint64_t client)
{
    apr_uint32_t rank, running = qos_clients_count(q, &gate->inside, client);

    for (rank = 0; rank < QOS_RANKS; rank++) {
        if (gate->queues[rank]) {
            qos_clients_schedule(q, &gate->queues[rank], client, running, 0);
        }
    }
}

/* A client that is new in the queue gets its turn after those that wait. */
static void add_queued(const vault_qos_t *q, qos_gate_t *gate, apr_uint32_t index)
{
    const qos_pass_t *pass = qos_pass_at(q, index);
    apr_uint32_t *queue = &gate->queues[pass->rank];
    int waits = qos_clients_find(q, queue, pass->client) != 0;

    qos_clients_add(q, queue, index);
    gate->queued++;
    if (!waits) {
        qos_clients_schedule(q, queue, pass->client, qos_clients_count(q, &gate->inside, pass->client), ++gate->turns);
    }
}

static void add_inside(const vault_qos_t *q, qos_gate_t *gate, apr_uint32_t index)
{
    qos_clients_add(q, &gate->inside, index);
    gate->in++;
    reschedule(q, gate, qos_pass_at(q, index)->client);
}

static void remove_queued(const vault_qos_t *q, qos_gate_t *gate, apr_uint32_t index)
{
    qos_clients_remove(q, &gate->queues[qos_pass_at(q, index)->rank], index);
    gate->queued--;
}

static void remove_inside(const vault_qos_t *q, qos_gate_t *gate, apr_uint32_t index)
{
    qos_clients_remove(q, &gate->inside, index);
    gate->in--;
    reschedule(q, gate, qos_pass_at(q, index)->client);
}

void qos_gate_append(const vault_qos_t *q, qos_gate_t *gate, apr_uint32_t index)
{
    qos_pass_t *pass = qos_pass_at(q, index);

    if (pass) {
        set_state(pass, QOS_QUEUED);
        add_queued(q, gate, index);
    }
}

/* @return its state before */
static apr_uint32_t take_out(const vault_qos_t *q, qos_gate_t *gate, apr_uint32_t index)
{
    qos_pass_t *pass = qos_pass_at(q, index);
    apr_uint32_t was = pass->state;

    set_state(pass, QOS_FREE);
    if (was == QOS_IN) {
        remove_inside(q, gate, index);
    }
    else if (was == QOS_QUEUED) {
        remove_queued(q, gate, index);
    }
    return was;
}

void qos_gate_free(const vault_qos_t *q, qos_gate_t *gate, apr_uint32_t index)
{
    if (qos_pass_at(q, index)) {
        take_out(q, gate, index);
        qos_pool_give(q, gate, index);
    }
}

void qos_gate_displace(const vault_qos_t *q, qos_gate_t *gate, apr_uint32_t index)
{
    if (qos_pass_at(q, index) && take_out(q, gate, index) == QOS_QUEUED) {
        gate->displaced++;
    }
}

/* ---------------------------------------------------------------------- order */

/* Each rank has one queue. Its first request is of the client with the fewest admitted requests: if that client
 * is at its limit, all clients of the queue are. */
apr_uint32_t qos_gate_first(const vault_qos_t *q, const qos_gate_t *gate)
{
    int rank;

    for (rank = VAULT_QOS_RANK_MAX; rank >= 0; rank--) {
        const qos_pass_t *leader = qos_pass_at(q, gate->queues[rank]);
        const qos_pass_t *first = leader ? qos_pass_at(q, leader->first) : NULL;

        if (first && first->running < gate->each) {
            return leader->first;
        }
    }
    return 0;
}

int qos_gate_has_room(const vault_qos_t *q, const qos_gate_t *gate, apr_uint64_t client)
{
    return gate->in < gate->limit && qos_clients_count(q, &gate->inside, client) < gate->each;
}

/* After an admission, the next turn of the client comes after those of the others. */
apr_uint32_t qos_gate_admit(const vault_qos_t *q, qos_gate_t *gate)
{
    apr_uint32_t index = gate->in < gate->limit ? qos_gate_first(q, gate) : 0;
    qos_pass_t *pass = qos_pass_at(q, index);

    if (!pass) {
        return 0;
    }
    set_state(pass, QOS_IN);
    remove_queued(q, gate, index);
    add_inside(q, gate, index);
    qos_clients_schedule(q, &gate->queues[pass->rank], pass->client, qos_clients_count(q, &gate->inside, pass->client),
                         ++gate->turns);
    gate->admitted++;
    return index;
}

apr_uint32_t qos_gate_queued_of(const vault_qos_t *q, const qos_gate_t *gate, apr_uint64_t client)
{
    apr_uint32_t rank, count = 0;

    for (rank = 0; rank < QOS_RANKS; rank++) {
        count += qos_clients_count(q, &gate->queues[rank], client);
    }
    return count;
}

/* The latest pass of this leader's client. */
static apr_uint32_t latest_of(const vault_qos_t *q, apr_uint32_t leader)
{
    return leader ? qos_pass_at(q, leader)->earlier : 0;
}

static apr_uint32_t loser_of_own(const vault_qos_t *q, const qos_gate_t *gate, const vault_qos_entrant_t *who)
{
    apr_uint32_t rank, leader = 0;

    for (rank = 0; rank < who->rank && rank < QOS_RANKS && !leader; rank++) {
        leader = qos_clients_find(q, &gate->queues[rank], who->client);
    }
    return latest_of(q, leader);
}

apr_uint32_t qos_gate_loser(const vault_qos_t *q, const qos_gate_t *gate, const vault_qos_entrant_t *who, int own)
{
    const qos_pass_t *leader, *most;
    apr_uint32_t rank = 0;

    if (own) {
        return loser_of_own(q, gate, who);
    }
    while (rank < VAULT_QOS_RANK_MAX && !gate->queues[rank]) {
        rank++;
    }
    leader = qos_pass_at(q, gate->queues[rank]);
    most = leader ? qos_pass_at(q, leader->most) : NULL;
    if (!most || rank > who->rank) {
        return 0;
    }
    if (rank == who->rank && most->count <= qos_clients_count(q, &gate->queues[rank], who->client) + 1) {
        return 0; /* it would only swap the two requests */
    }
    return most->earlier;
}

/* -------------------------------------------------------------------- mending */

/* Merges two chains, each in order of arrival. */
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

/* Merge sort: chains of 1, 2, 4 … passes are merged as bits are carried, so that it takes n log n steps and no
 * memory. */
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

    gate->in = gate->queued = gate->inside = 0;
    for (rank = 0; rank < QOS_RANKS; rank++) {
        gate->queues[rank] = 0;
    }
    for (index = qos_gate_next(q, gate, 0); index; index = qos_gate_next(q, gate, index)) {
        qos_pass_t *pass = qos_pass_at(q, index);

        if (pass->state == QOS_QUEUED && pass->rank < QOS_RANKS) {
            pass->next = queued;
            queued = index;
        }
        else if (pass->state == QOS_IN) {
            add_inside(q, gate, index);
        }
        else {
            qos_pool_give(q, gate, index);
        }
    }
    for (index = sort_by_arrival(q, queued); index; index = next) {
        next = qos_pass_at(q, index)->next;
        add_queued(q, gate, index);
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

const char *qos_gate_check(const vault_qos_t *q, const qos_gate_t *gate)
{
    apr_uint32_t in = 0, queued = 0, inside = 0, listed = 0, rank, index;
    const char *wrong;

    for (index = qos_gate_next(q, gate, 0); index; index = qos_gate_next(q, gate, index)) {
        const qos_pass_t *pass = qos_pass_at(q, index);

        if (pass->state == QOS_FREE || !vault_slot_pid(q->notifier, pass->slot)) {
            return "a gate has a pass that no request has";
        }
        *(pass->state == QOS_IN ? &in : &queued) += 1;
    }
    wrong = qos_clients_check(q, &gate->inside, QOS_IN, &inside);
    for (rank = 0; rank < QOS_RANKS && !wrong; rank++) {
        wrong = qos_clients_check(q, &gate->queues[rank], QOS_QUEUED, &listed);
    }
    return wrong                                      ? wrong
           : in != gate->in || queued != gate->queued ? "a gate has counted wrong"
           : in != inside || queued != listed         ? "a pass of a gate is in no queue"
                                                      : NULL;
}
