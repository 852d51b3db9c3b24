/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file qos_table.h
 * How gates and passes lie in the segment. Internal: for qos.c, qos_gate.c and their tests.
 *
 * A pass that a gate has once taken from the common store stays the gate's, chained by `sibling`: whoever mends the gate finds all of
 * its passes there. Words marked "truth" are changed by one store each, so that a process killed in the lock leaves what was or what is
 * to be; words marked "derived" are what qos_gate_mend() makes from them.
 */
#ifndef VAULT_QOS_TABLE_H
#define VAULT_QOS_TABLE_H

#include "lock.h"
#include "qos.h"
#include "slot.h"

enum { QOS_FREE, QOS_QUEUED, QOS_IN };

#define QOS_RANKS (VAULT_QOS_RANK_MAX + 1)

typedef struct qos_pass_t {
    apr_uint64_t ticket;  /* lock; the order of arrival at the gate; written while FREE */
    apr_uint32_t state;   /* lock; atomic; truth */
    apr_uint32_t slot;    /* lock; whose it is; written while FREE */
    apr_uint32_t rank;    /* lock; written while FREE */
    apr_uint32_t sibling; /* lock; const once it is in the gate's chain */
    apr_uint32_t next;    /* lock; derived; in its queue, or among the free ones */
    apr_uint32_t prev;    /* lock; derived; in its queue */
} qos_pass_t;

_Static_assert(sizeof(qos_pass_t) == 32, "the pass is part of the layout: raise RETAINED in child.c with it");

typedef struct qos_queue_t {
    apr_uint32_t head, tail; /* lock; derived; 0: empty */
} qos_queue_t;

typedef struct qos_gate_t {
    _Alignas(64) vault_lock_t lock;                 /* made when the gate is first opened */
    apr_uint64_t birth;                             /* lock; atomic; 0: not open */
    apr_uint64_t tickets;                           /* lock; the last number given */
    apr_uint32_t limit;                             /* lock */
    apr_uint32_t era;                               /* lock; the last configuration that opened it */
    apr_uint32_t passes;                            /* lock; truth; the first of its passes */
    apr_uint32_t free;                              /* lock; derived; the first of those free */
    apr_uint32_t in;                                /* lock; derived */
    apr_uint32_t queued;                            /* lock; derived */
    qos_queue_t queues[QOS_RANKS];                  /* lock; derived */
    apr_uint64_t admitted, refused, timeouts, gone; /* lock */
    char name[VAULT_QOS_NAME];                      /* lock */
} qos_gate_t;

_Static_assert(sizeof(qos_gate_t) == 384, "the gate is part of the layout: raise RETAINED in child.c with it");

typedef struct qos_table_t {
    apr_uint64_t births; /* parent; the last given */
    apr_uint32_t era;    /* atomic, written by the parent; configurations so far */
    apr_uint32_t fresh;  /* atomic; passes 1..fresh belong to a gate */
} qos_table_t;

/** The handle: plain data, so that it outlives an unloading of this code. */
struct vault_qos_t {
    vault_notifier_t *notifier;
    qos_table_t *table;
    qos_gate_t *gates;  /* [VAULT_QOS_ROOM]; index 1 is the first */
    qos_pass_t *passes; /* [count]; index 1 is the first */
    apr_uint32_t count;
};

/** NULL for 0 and what is past the table. */
static inline qos_gate_t *qos_gate_at(const vault_qos_t *q, apr_uint32_t index)
{
    return index >= 1 && index <= VAULT_QOS_ROOM ? &q->gates[index - 1] : NULL;
}

static inline qos_pass_t *qos_pass_at(const vault_qos_t *q, apr_uint32_t index)
{
    return index >= 1 && index <= q->count ? &q->passes[index - 1] : NULL;
}

static inline apr_uint32_t qos_pass_state(const qos_pass_t *pass)
{
    return __atomic_load_n(&pass->state, __ATOMIC_ACQUIRE);
}

/** The gate's lock. After a dead owner the gate is mended first, and once it is released everybody must be told: the dead one may
 * have let in requests whose slots it did not tell.
 * @return 1 an owner had died: the caller calls vault_notifier_all() without the lock */
int qos_gate_acquire(const vault_qos_t *q, qos_gate_t *gate);

/** A free pass of the gate, or a fresh one. @return 0 none is left */
apr_uint32_t qos_gate_take(const vault_qos_t *q, qos_gate_t *gate);

/** The pass, filled in and FREE, goes to the end of its queue. */
void qos_gate_append(const vault_qos_t *q, qos_gate_t *gate, apr_uint32_t index);

/** The pass is free, whatever it was. */
void qos_gate_free(const vault_qos_t *q, qos_gate_t *gate, apr_uint32_t index);

/** Let the first of the queue in, if one more may be in. @return its index; 0: nobody */
apr_uint32_t qos_gate_admit(const vault_qos_t *q, qos_gate_t *gate);

/** Make all that is derived from the states of the gate's passes. */
void qos_gate_mend(const vault_qos_t *q, qos_gate_t *gate);

/** Compare what is derived with what is true. Locked. @return NULL, or the first thing that is wrong */
const char *qos_gate_check(const vault_qos_t *q, const qos_gate_t *gate);

#endif
