/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file qos_table.h
 * How gates and passes lie in the segment. Internal: for qos.c, qos_gate.c, qos_clients.c, qos_pool.c and their tests.
 *
 * A pass belongs to a gate, which `gate` names, or to the pool (qos_pool.c). Words marked "truth" are changed by one
 * store each, so that a process killed in the lock leaves what was or what is to be; words marked "derived" are what
 * qos_gate_mend() and the pool's recount make from them. "Pool lock" is the lock in qos_table_t, "lock" that of the
 * gate.
 */
#ifndef VAULT_QOS_TABLE_H
#define VAULT_QOS_TABLE_H

#include "notify/slot.h"
#include "qos/qos.h"
#include "shm/lock.h"

enum { QOS_FREE, QOS_QUEUED, QOS_IN };

#define QOS_RANKS (VAULT_QOS_RANK_MAX + 1)

typedef struct qos_pass_t {
    apr_uint64_t ticket;   /* lock; atomic; identifies the request: never reused, and higher for later requests */
    apr_uint64_t client;   /* lock; written while FREE */
    apr_uint64_t turn;     /* lock; derived; of a leader: the lower, the sooner a request of its client is admitted */
    apr_uint32_t state;    /* lock; atomic; truth */
    apr_uint32_t gate;     /* lock and pool lock; atomic; truth; 0: it is in the pool */
    apr_uint32_t slot;     /* lock; atomic; the slot of its request; written while FREE */
    apr_uint32_t rank;     /* lock; written while FREE */
    apr_uint32_t next;     /* pool lock; derived; in the pool */
    apr_uint32_t earlier;  /* lock; derived; of the same client in the same set; of the oldest: the latest */
    apr_uint32_t later;    /* lock; derived; of the latest: the oldest */
    apr_uint32_t child[2]; /* lock; derived; of a leader: leaders below it */
    apr_uint32_t first; /* lock; derived; of a leader: of it and those below, the one whose client is admitted first */
    /* lock; derived; of a leader: of it and those below, the one whose client has the most passes here */
    apr_uint32_t most;
    apr_uint32_t count;   /* lock; derived; of a leader: passes of its client here */
    apr_uint32_t running; /* lock; derived; of a leader: admitted requests of its client */
} qos_pass_t;

_Static_assert(sizeof(qos_pass_t) == 80, "the pass is part of the layout: raise RETAINED in child.c with it");

typedef struct qos_gate_t {
    _Alignas(64) vault_lock_t lock;                 /* made when the gate is first opened */
    apr_uint64_t birth;                             /* lock; atomic; 0: not open */
    apr_uint64_t turns;                             /* lock; the last turn given to a client */
    apr_uint32_t limit;                             /* lock */
    apr_uint32_t each;                              /* lock; how many of one client may be in */
    apr_uint32_t era;                               /* pool lock; the last configuration that opened it */
    apr_uint32_t held;                              /* pool lock; derived; how many passes it has */
    apr_uint32_t in;                                /* lock; derived */
    apr_uint32_t queued;                            /* lock; derived */
    apr_uint32_t inside;                            /* lock; derived; the set of admitted passes (qos_clients.c) */
    apr_uint32_t queues[QOS_RANKS];                 /* lock; derived; for each rank, the set of queued passes */
    apr_uint64_t admitted, refused, timeouts, gone; /* lock */
    apr_uint64_t displaced;                         /* lock */
    char name[VAULT_QOS_NAME];                      /* lock */
} qos_gate_t;

_Static_assert(sizeof(qos_gate_t) == 384, "the gate is part of the layout: raise RETAINED in child.c with it");

typedef struct qos_table_t {
    vault_lock_t lock;      /* the pool's; taken after that of a gate, never before */
    apr_uint64_t births;    /* parent; the last number given */
    apr_uint64_t tickets;   /* atomic; the last number given */
    apr_uint64_t shortages; /* pool lock; how often a gate got no pass */
    apr_time_t short_at;    /* pool lock; when that was last, by vault_now(); 0: never */
    apr_uint32_t era;       /* pool lock; atomic; configurations so far */
    apr_uint32_t fresh;     /* pool lock; atomic; truth; passes from this one on have never been used */
    apr_uint32_t free;      /* pool lock; derived; the first pass of the pool */
    apr_uint32_t used;      /* pool lock; derived; passes that belong to gates */
    apr_uint32_t gates;     /* pool lock; derived; gates of this configuration */
    apr_uint32_t share;     /* pool lock; derived; passes that each of these can always have */
    apr_uint32_t claimed;   /* pool lock; derived; passes that gates have within their share */
} qos_table_t;

/** The handle: plain data, so that it outlives an unloading of this code. */
struct vault_qos_t {
    vault_notifier_t *notifier;
    qos_table_t *table;
    qos_gate_t *gates;  /* [VAULT_QOS_ROOM]; index 1 is the first */
    qos_pass_t *passes; /* [count]; index 1 is the first */
    apr_uint64_t *told; /* atomic, each; [last slot + 1][QOS_TOLD_WORDS(count)]: which passes each slot is to look at */
    apr_uint32_t count;
};

/** A slot's part of `told`: a word that says whether any bit is set, and a bit for each pass. */
#define QOS_TOLD_WORDS(count) (1 + ((count) + 63) / 64)

/** NULL for 0 and for indexes beyond the table. */
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

static inline apr_uint32_t qos_pass_gate(const qos_pass_t *pass)
{
    return __atomic_load_n(&pass->gate, __ATOMIC_ACQUIRE);
}

static inline apr_uint32_t qos_gate_index(const vault_qos_t *q, const qos_gate_t *gate)
{
    return (apr_uint32_t)(gate - q->gates) + 1;
}

/** Iterates over the passes of a locked gate; start with index 0.
 * @return 0: there are no more */
apr_uint32_t qos_gate_next(const vault_qos_t *q, const qos_gate_t *gate, apr_uint32_t index);

/** Acquire the gate's lock. If its owner had died, the gate is repaired first, and all slots have to be notified
 * after the release: the dead process may have admitted requests without notifying their slots.
 * @return 1: an owner had died; the caller calls vault_notifier_all() after the release */
int qos_gate_acquire(const vault_qos_t *q, qos_gate_t *gate);

/** Append a pass, which is FREE and filled in, to its queue. */
void qos_gate_append(const vault_qos_t *q, qos_gate_t *gate, apr_uint32_t index);

/** Free a pass, whatever its state, and return it to the pool. */
void qos_gate_free(const vault_qos_t *q, qos_gate_t *gate, apr_uint32_t index);

/** Take a pass from its queued request. It becomes FREE and stays with the gate, for the request that displaces
 * it. Counted as displaced. */
void qos_gate_displace(const vault_qos_t *q, qos_gate_t *gate, apr_uint32_t index);

/** The queued request to admit next, provided that its client is below its limit. @return 0: there is none */
apr_uint32_t qos_gate_first(const vault_qos_t *q, const qos_gate_t *gate);

/** Is the client below its limit? */
int qos_gate_has_room(const vault_qos_t *q, const qos_gate_t *gate, apr_uint64_t client);

/** Admit the first queued request if the limit allows it. @return its index; 0: none was admitted */
apr_uint32_t qos_gate_admit(const vault_qos_t *q, qos_gate_t *gate);

/** The number of queued requests of that client, of all ranks. */
apr_uint32_t qos_gate_queued_of(const vault_qos_t *q, const qos_gate_t *gate, apr_uint64_t client);

/** The request that a newcomer displaces when the queue is full.
 * @param own  choose among the requests of its own client, which has its share
 * @return its index; 0: none, so the newcomer is refused */
apr_uint32_t qos_gate_loser(const vault_qos_t *q, const qos_gate_t *gate, const vault_qos_entrant_t *who, int own);

/** Rebuild everything that is derived from the states of the gate's passes. */
void qos_gate_mend(const vault_qos_t *q, qos_gate_t *gate);

/* Sets of passes by client. `root` is 0 for an empty set. */

/** Add a pass, with its client and ticket set. It becomes the latest of its client in the set. */
void qos_clients_add(const vault_qos_t *q, apr_uint32_t *root, apr_uint32_t index);

/** Remove a pass from its set. */
void qos_clients_remove(const vault_qos_t *q, apr_uint32_t *root, apr_uint32_t index);

/** The leader, that is the oldest pass, of that client. @return 0: it has none */
apr_uint32_t qos_clients_find(const vault_qos_t *q, const apr_uint32_t *root, apr_uint64_t client);

/** The number of passes of that client in the set. */
apr_uint32_t qos_clients_count(const vault_qos_t *q, const apr_uint32_t *root, apr_uint64_t client);

/** Set the order of the client: clients with fewer admitted requests come first, and among these those with a
 * lower turn.
 * @param turn  0: unchanged */
void qos_clients_schedule(const vault_qos_t *q, apr_uint32_t *root, apr_uint64_t client, apr_uint32_t running,
                          apr_uint64_t turn);

/** Check the set against its passes, which all have that state. @param count  is increased by their number
 * @return NULL, or the first inconsistency */
const char *qos_clients_check(const vault_qos_t *q, const apr_uint32_t *root, apr_uint32_t state, apr_uint32_t *count);

/** Take a pass for the locked gate. @return 0: the pool has none for it. Counted as a shortage. */
apr_uint32_t qos_pool_take(const vault_qos_t *q, qos_gate_t *gate);

/** Return a pass of the locked gate to the pool. */
void qos_pool_give(const vault_qos_t *q, qos_gate_t *gate, apr_uint32_t index);

/** Add the locked gate to the configuration; NULL: begin a new configuration without gates. */
void qos_pool_configure(const vault_qos_t *q, qos_gate_t *gate);

/** Check the derived data of the pool. Takes its lock. @return NULL, or the first inconsistency */
const char *qos_pool_check(const vault_qos_t *q);

/** Check the derived data of a gate, which is locked. @return NULL, or the first inconsistency */
const char *qos_gate_check(const vault_qos_t *q, const qos_gate_t *gate);

#endif
