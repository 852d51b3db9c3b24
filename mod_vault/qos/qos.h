/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file qos.h
 * Gates: at most so many requests at once behind each, counted across all children; the others stand in a queue before it.
 *
 * A gate is found by a name that stays the same over restarts ("localhost:80 /app"). Each request that is behind a gate or in its queue
 * has a pass in the segment: whose it is (the slot), its rank, its number in order of arrival, and one word that says IN or QUEUED.
 * That word is the truth. How many are in, the queues and the free passes are derived from it and made anew by the next owner of the
 * gate's lock when one has died in it, so that no count can drift away: a child that is killed takes its passes with it
 * (vault_qos_slot_gone), whatever it was doing.
 *
 *   - A request is let in at once iff fewer than `limit` are in, fewer than `each` of its client, and none queues that
 *     may go in.
 *   - When a place is free, a request of the queue is let in whose client has fewer than `each` in: of the highest
 *     rank; of that rank one of the client that has the fewest requests in; of these one of the client whose last turn
 *     is longest ago; of that client the oldest.
 *   - A full queue refuses one request at once, and not always the newcomer. A client that has its share of the queue
 *     loses one of its own. Otherwise the queue loses one of the lowest rank, the newcomer included: the latest of the
 *     client that has the most of that rank. A newcomer that would only swap places with another of its rank is
 *     refused. So a client that fills the queue makes room for each other client, and a client of a high rank takes no
 *     more than its share.
 *   - A displaced request loses its pass to the newcomer in one step under the gate's lock: `ticket`, which is never
 *     given twice, says whose a pass is. Its slot is told through its wake queue, as when it is let in. One that was
 *     let in cannot be displaced.
 *   - A queued request that goes away, or whose time is up, leaves as any other. Had it been let in meanwhile, its place goes to the
 *     next: there is no window in which a place is nobody's.
 *   - Between the mark and the telling a process can die. vault_notifier_all(), which follows every such death, tells all slots
 *     that they must look at each of their queued requests.
 *
 * The caller's loop that cannot miss:                The loop that can:
 *     enter; list the pass where the waker looks;        enter; queued? list it; wait
 *     is it in? run; displaced? refuse; else wait
 *
 * Threads: space, create, open: the parent, before it forks children of this generation. The others: any thread of any
 * process. One robust lock a gate and one for the pool of passes, each held for a few list moves; nothing is called
 * under them. (Order: gate > pool.)
 */
#ifndef VAULT_QOS_H
#define VAULT_QOS_H

#include "notify/notifier.h"

/** Gates of one configuration, and gates that the segment has room for: those of older configurations stay until nobody uses them. */
#define VAULT_QOS_GATES 256
#define VAULT_QOS_ROOM (2 * VAULT_QOS_GATES)
/** Ranks are 0 to this; the highest goes first. */
#define VAULT_QOS_RANK_MAX 9
/** The longest name of a gate, its NUL included. */
#define VAULT_QOS_NAME 192

typedef struct vault_qos_t vault_qos_t; /* handle, made before the fork, the same in every process; plain data */

/** A gate, as a process remembers it. A gate that was given to another name since is noticed. */
typedef struct vault_qos_gate_t {
    apr_uint64_t birth; /* 0: none */
    apr_uint32_t index;
} vault_qos_gate_t;

/** A request's pass, in its owner's memory. Zeroed: it has none. */
typedef struct vault_qos_pass_t {
    apr_uint32_t gate;
    apr_uint32_t
        index; /* 0: none; else 1..vault_qos_passes(). A displaced request and the one that has its pass now share it */
    apr_uint64_t ticket; /* unique among all requests */
} vault_qos_pass_t;

/** Who wants to pass. */
typedef struct vault_qos_entrant_t {
    unsigned slot;       /* of the child it is in; not 0 */
    unsigned rank;       /* more than VAULT_QOS_RANK_MAX counts as that */
    apr_uint32_t queue;  /* how many may queue; 0: it does not */
    apr_uint32_t share;  /* how many of its client may queue at this gate; 0: as many as may queue */
    apr_uint64_t client; /* any number that is hard to choose: vault_client_id() */
} vault_qos_entrant_t;

/** Why a request leaves: for the counts. */
typedef enum vault_qos_leave_t {
    VAULT_QOS_DONE,    /* it was in and has been served */
    VAULT_QOS_LATE,    /* its time is up */
    VAULT_QOS_REFUSED, /* it cannot wait */
    VAULT_QOS_GONE     /* its client went away */
} vault_qos_leave_t;

/** What can be told of a gate. */
typedef struct vault_qos_facts_t {
    char name[VAULT_QOS_NAME];
    apr_uint32_t limit;
    apr_uint32_t each;    /* the limit of one client */
    apr_uint32_t running; /* now */
    apr_uint32_t queued;  /* now */
    int configured;       /* the configuration has it still; else it only waits for its last requests to end */
    apr_uint64_t admitted, refused, timeouts, gone; /* since the server was started */
    apr_uint64_t displaced;                         /* the same; these are not counted as refused */
} vault_qos_facts_t;

/** What the tables need of a segment, in bytes. */
apr_uint64_t vault_qos_space(const vault_limits_t *limits);

/** @return APR_SUCCESS; APR_ENOSPC the segment has not so much left */
apr_status_t vault_qos_create(vault_qos_t **qos, vault_segment_t *segment, vault_notifier_t *notifier,
                              apr_pool_t *pool);

/** How many passes there are: requests behind all gates and in all queues at a time. One in 4 KB of the segment, at least 256 and at
 * most 65,536. */
apr_uint32_t vault_qos_passes(const vault_qos_t *q);

/** The passes of all gates together. */
typedef struct vault_qos_usage_t {
    apr_uint32_t passes; /* vault_qos_passes() */
    apr_uint32_t used;   /* now */
    apr_uint32_t share;  /* what each gate of the configuration can always have; more only of what the others leave */
    apr_uint64_t shortages; /* how often a request found no pass left for its gate, since the server was started */
    apr_time_t short_at;    /* when the last one did, by vault_now(); 0: none has */
} vault_qos_usage_t;

/** Any thread of any process. */
void vault_qos_usage(const vault_qos_t *q, vault_qos_usage_t *usage);

/* ------------------------------------------------------------- configuration */

/** A new configuration begins: gates that it does not open are closed when the last of their requests has ended. */
void vault_qos_begin(vault_qos_t *q);

/** Find the gate of that name, or make it, and set its limits. A higher limit lets those in who may; a lower one
 * counts for who comes next.
 * @param name   NUL-terminated; where it does not fit into VAULT_QOS_NAME it is cut, and ends with a number that is made of all of it
 * @param limit  at least 1
 * @param each   how many of one client may be in, at least 1
 * @return APR_SUCCESS; APR_ENOSPC no gate is free */
apr_status_t vault_qos_open(vault_qos_t *q, const char *name, apr_uint32_t limit, apr_uint32_t each,
                            vault_qos_gate_t *gate);

/* ------------------------------------------------------------------ requests */

/** Go in, or into the queue.
 * @param pass  zeroed; filled in where APR_SUCCESS or APR_EAGAIN is returned
 * @return APR_SUCCESS   it is in
 *         APR_EAGAIN    it queues. List it by pass->index where the waker finds it, then ask vault_qos_is_in()
 *         APR_ENOSPC    as many queue as may, and it displaces none of them
 *         APR_EBUSY     its client has its share of the queue, none of a lower rank; or it has `each` in, and may not
 *                       queue
 *         APR_ENOMEM    no pass is left for this gate (vault_qos_usage_t); counted as refused as well
 *         APR_NOTFOUND  there is no such gate any more, so no limit
 *         APR_EINVAL    no slot */
apr_status_t vault_qos_enter(vault_qos_t *q, const vault_qos_gate_t *gate, const vault_qos_entrant_t *who,
                             vault_qos_pass_t *pass);

/** Has it been let in? Takes no lock. */
int vault_qos_is_in(const vault_qos_t *q, const vault_qos_pass_t *pass);

/** Has another request displaced it? Takes no lock. It still calls vault_qos_leave(), which counts nothing then. */
int vault_qos_is_displaced(const vault_qos_t *q, const vault_qos_pass_t *pass);

/** Leave from wherever it is, and let in who may. The pass is zeroed: leaving twice is harmless. */
void vault_qos_leave(vault_qos_t *q, vault_qos_pass_t *pass, vault_qos_leave_t why);

/** The child of that slot is dead (parent, before the slot is freed): its passes are void, and others are let in. */
void vault_qos_slot_gone(vault_qos_t *q, unsigned slot);

/* ------------------------------------------------------------------- looking */

/** What is known of the gate at `index`, 1 to VAULT_QOS_ROOM. @return 0 there is none */
int vault_qos_facts(vault_qos_t *q, apr_uint32_t index, vault_qos_facts_t *facts);

/** Of those that are in, how many are of that slot. Walks the gate's passes. */
apr_uint32_t vault_qos_in_of(vault_qos_t *q, const vault_qos_gate_t *gate, unsigned slot);

/** Compare what is derived with what is true, under the locks: for tests and `vaultctl check`. The server may go on
 * meanwhile.
 * @return NULL, or the first thing that is wrong */
const char *vault_qos_check(vault_qos_t *q);

#endif
