/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file qos.h
 * Gates: the limit of concurrent requests for one location, counted across all children. Further requests wait
 * in a queue.
 *
 * A gate is identified by a name that stays the same over restarts ("localhost:80 /app"). Each request that is
 * admitted or queued has a pass in the segment: its owner (the slot), its rank, its number in order of arrival,
 * and one word with its state, IN or QUEUED. Everything else is derived from that word: the number of admitted
 * requests, the queues and the free passes. If a process dies holding the gate's lock, the next owner rebuilds
 * them, so no count can drift. The passes of a killed child are freed, whatever it was doing
 * (vault_qos_slot_gone()).
 *
 *   - A request is admitted at once if fewer than `limit` are in, fewer than `each` of its client, and no queued
 *     request can be admitted.
 *   - When a request leaves, the next one is chosen among the queued requests whose client has fewer than `each` in:
 *     of the highest rank; of that rank, one of the client that has the fewest requests in; of these clients, the one
 *     whose last turn is longest ago; of that client, the oldest request.
 *   - A full queue refuses one request at once, not always the newcomer. A client that has its share of the queue
 *     loses one of its own. Otherwise the queue loses one of the lowest rank, the newcomer included: the latest of
 *     the client that has the most requests of that rank. A newcomer that would only swap places with another of
 *     its rank is refused. So a client that fills the queue makes room for each other client, and a client of a
 *     high rank takes no more than its share.
 *   - A displaced request loses its pass to the newcomer in one step under the gate's lock. `ticket`, which is
 *     never reused, says which request a pass belongs to. The slot of the displaced request is told
 *     (vault_qos_collect()), as when a request is admitted. An admitted request cannot be displaced.
 *   - A queued request whose client disconnects, or whose time is up, leaves as any other. If it was admitted
 *     meanwhile, the next one is admitted instead: at no moment is capacity lost.
 *   - A process can die after it has changed a state and before it has notified. vault_notifier_all(), which
 *     follows every such death, makes all slots check each of their queued requests.
 *
 * The caller's loop that cannot miss a change:       The loop that can:
 *    enter; list the pass where the waker looks;        enter; queued? list it; wait
 *    is it in? run; displaced? refuse; else wait
 *
 * Threads: space, create, open: the parent, before it forks children of this generation. The others: any thread
 * of any process. Each gate has a robust lock, and so has the pool of passes; each is held for a few list
 * operations, and no other code is called under them. (Order: gate > pool.)
 */
#ifndef VAULT_QOS_H
#define VAULT_QOS_H

#include "notify/notifier.h"

/** Gates of one configuration, and gates that the segment has room for: those of older configurations stay until
 * their last request has ended. */
#define VAULT_QOS_GATES 256
#define VAULT_QOS_ROOM (2 * VAULT_QOS_GATES)
/** Ranks go from 0 to this; the highest is admitted first. */
#define VAULT_QOS_RANK_MAX 9
/** The longest name of a gate, its NUL included. */
#define VAULT_QOS_NAME 192

typedef struct vault_qos_t vault_qos_t; /* handle, made before the fork, the same in every process; plain data */

/** A process's reference to a gate. The birth tells whether the gate has been reused for another name. */
typedef struct vault_qos_gate_t {
    apr_uint64_t birth; /* 0: none */
    apr_uint32_t index;
} vault_qos_gate_t;

/** The pass of a request, in the memory of its process. Zeroed: none. */
typedef struct vault_qos_pass_t {
    apr_uint32_t gate;
    apr_uint32_t
        index; /* 0: none; else 1..vault_qos_passes(). A displaced request and the one that has its pass now share it */
    apr_uint64_t ticket; /* unique among all requests */
} vault_qos_pass_t;

/** A request that wants to enter. */
typedef struct vault_qos_entrant_t {
    unsigned slot;       /* of its child; not 0 */
    unsigned rank;       /* higher values count as VAULT_QOS_RANK_MAX */
    apr_uint32_t queue;  /* how many may queue; 0: it must not queue */
    apr_uint32_t share;  /* how many of its client may queue at this gate; 0: no limit */
    apr_uint64_t client; /* any number that is hard to choose: vault_client_id() */
} vault_qos_entrant_t;

/** Why a request leaves, for the counters. */
typedef enum vault_qos_leave_t {
    VAULT_QOS_DONE,    /* it was admitted and has been handled */
    VAULT_QOS_LATE,    /* its time is up */
    VAULT_QOS_REFUSED, /* it cannot wait */
    VAULT_QOS_GONE     /* its client has disconnected */
} vault_qos_leave_t;

/** The facts about a gate. */
typedef struct vault_qos_facts_t {
    char name[VAULT_QOS_NAME];
    apr_uint32_t limit;
    apr_uint32_t each;    /* the limit of one client */
    apr_uint32_t running; /* now */
    apr_uint32_t queued;  /* now */
    int configured;       /* 0: no longer in the configuration; it exists until its last request has ended */
    apr_uint64_t admitted, refused, timeouts, gone; /* since the server was started */
    apr_uint64_t displaced;                         /* since the start; not counted in `refused` */
} vault_qos_facts_t;

/** The memory of the tables in the segment, in bytes. */
apr_uint64_t vault_qos_space(const vault_limits_t *limits);

/** @return APR_SUCCESS; APR_ENOSPC the segment has not enough memory left */
apr_status_t vault_qos_create(vault_qos_t **qos, vault_segment_t *segment, vault_notifier_t *notifier,
                              apr_pool_t *pool);

/** The number of passes, which limits the admitted and queued requests of all gates together. One for 4 KB of
 * the segment, at least 256 and at most 65,536. */
apr_uint32_t vault_qos_passes(const vault_qos_t *q);

/** The passes of all gates together. */
typedef struct vault_qos_usage_t {
    apr_uint32_t passes; /* vault_qos_passes() */
    apr_uint32_t used;   /* now */
    /* the passes that each configured gate can always have; it gets more only if the others leave some */
    apr_uint32_t share;
    apr_uint64_t shortages; /* how often a request found no pass for its gate, since the start */
    apr_time_t short_at;    /* when that was last, by vault_now(); 0: never */
} vault_qos_usage_t;

/** Any thread of any process. */
void vault_qos_usage(const vault_qos_t *q, vault_qos_usage_t *usage);

/* ------------------------------------------------------------- configuration */

/** Begin a new configuration. Gates that it does not open are closed when their last request has ended. */
void vault_qos_begin(vault_qos_t *q);

/** Find or create the gate of this name, and set its limits. A higher limit admits queued requests at once; a
 * lower one applies to later requests.
 * @param name   NUL-terminated; a name that does not fit into VAULT_QOS_NAME is cut and ends with a hash of the
 *               whole name
 * @param limit  at least 1
 * @param each   how many requests of one client may be in, at least 1
 * @return APR_SUCCESS; APR_ENOSPC no gate is free */
apr_status_t vault_qos_open(vault_qos_t *q, const char *name, apr_uint32_t limit, apr_uint32_t each,
                            vault_qos_gate_t *gate);

/* ------------------------------------------------------------------ requests */

/** Enter, or queue.
 * @param pass  zeroed; set if APR_SUCCESS or APR_EAGAIN is returned
 * @return APR_SUCCESS   it is admitted
 *         APR_EAGAIN    it is queued. List it by pass->index where the waker finds it, then call vault_qos_is_in()
 *         APR_ENOSPC    the queue is full, and it displaces no other request
 *         APR_EBUSY     its client has its share of the queue, and no request of a lower rank in it; or its client has
 *                       `each` in, and it must not queue
 *         APR_ENOMEM    no pass is left for this gate (vault_qos_usage_t); also counted as refused
 *         APR_NOTFOUND  the gate does not exist any more, so there is no limit
 *         APR_EINVAL    no slot */
apr_status_t vault_qos_enter(vault_qos_t *q, const vault_qos_gate_t *gate, const vault_qos_entrant_t *who,
                             vault_qos_pass_t *pass);

/** Has it been admitted? Takes no lock. */
int vault_qos_is_in(const vault_qos_t *q, const vault_qos_pass_t *pass);

/** Has another request displaced it? Takes no lock. It still calls vault_qos_leave(), which counts nothing then. */
int vault_qos_is_displaced(const vault_qos_t *q, const vault_qos_pass_t *pass);

/** Call `look_at` with each pass of that slot that was admitted or displaced since the last call. To be called by
 * the slot's waker thread, whenever it is woken. When the waker is told to wake everything (vault_slot_drain()),
 * look at all requests of this child that queue. */
void vault_qos_collect(const vault_qos_t *q, unsigned slot, void (*look_at)(apr_uint32_t pass));

/** Leave, admitted or queued, and admit others. The pass is zeroed, so leaving twice is harmless. */
void vault_qos_leave(vault_qos_t *q, vault_qos_pass_t *pass, vault_qos_leave_t why);

/** The child of that slot is dead (called by the parent before the slot is freed): free its passes, and admit
 * others. */
void vault_qos_slot_gone(vault_qos_t *q, unsigned slot);

/* ------------------------------------------------------------------- inspection */

/** The facts about the gate at `index`, 1 to VAULT_QOS_ROOM. @return 0: there is none */
int vault_qos_facts(vault_qos_t *q, apr_uint32_t index, vault_qos_facts_t *facts);

/** Compare the derived data with the states, under the locks: for tests and `vaultctl check`. The server may
 * continue meanwhile.
 * @return NULL, or the first inconsistency */
const char *vault_qos_check(vault_qos_t *q);

#endif
