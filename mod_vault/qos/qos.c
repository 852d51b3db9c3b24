/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file qos.c
 * Gates: the limit of concurrent requests for one location, counted across all children.
 *
 * qos.h has the rules, qos_gate.c the operations under a gate's lock, qos_clients.c the order of clients, and
 * qos_pool.c the pool of passes. This file finds gates, and notifies the slots of admitted requests after the
 * lock has been released, a handful at a time.
 */
#include "qos/qos.h"

#include <string.h>

#include "apr_strings.h"

#include "base/hash.h"
#include "notify/notifier_tables.h"
#include "qos/qos_table.h"

#define BYTES_PER_PASS 4096
#define PASSES_MIN 256
#define PASSES_MAX 65536
#define HANDFUL 32
/* A long name ends with ~ and 16 digits. */
#define NUMBER 17

#define ALIGN64(size) (((apr_uint64_t)(size) + 63) & ~(apr_uint64_t)63)

/* --------------------------------------------------------------------- create */

static apr_uint32_t passes_for(const vault_limits_t *limits)
{
    apr_uint64_t count = limits->size / BYTES_PER_PASS;

    return count < PASSES_MIN ? PASSES_MIN : count > PASSES_MAX ? PASSES_MAX : (apr_uint32_t)count;
}

static apr_uint64_t told_space(const vault_limits_t *limits)
{
    return (limits->slots + 1) * QOS_TOLD_WORDS((apr_uint64_t)passes_for(limits)) * sizeof(apr_uint64_t);
}

apr_uint64_t vault_qos_space(const vault_limits_t *limits)
{
    return ALIGN64(sizeof(qos_table_t)) + VAULT_QOS_ROOM * (apr_uint64_t)sizeof(qos_gate_t) +
           ALIGN64(passes_for(limits) * (apr_uint64_t)sizeof(qos_pass_t)) + ALIGN64(told_space(limits));
}

static void *carve(vault_segment_t *segment, apr_uint64_t size)
{
    return vault_segment_at(segment, vault_segment_carve(segment, size), size);
}

apr_status_t vault_qos_create(vault_qos_t **qos, vault_segment_t *segment, vault_notifier_t *notifier, apr_pool_t *pool)
{
    vault_qos_t *q = apr_pcalloc(pool, sizeof(*q));

    *qos = NULL;
    q->notifier = notifier;
    q->count = passes_for(vault_segment_limits(segment));
    q->table = carve(segment, sizeof(*q->table));
    q->gates = carve(segment, VAULT_QOS_ROOM * (apr_uint64_t)sizeof(*q->gates));
    q->passes = carve(segment, q->count * (apr_uint64_t)sizeof(*q->passes));
    q->told = carve(segment, told_space(vault_segment_limits(segment)));
    if (!q->table || !q->gates || !q->passes || !q->told) {
        return APR_ENOSPC;
    }
    *qos = q;
    return vault_lock_init(&q->table->lock);
}

apr_uint32_t vault_qos_passes(const vault_qos_t *q)
{
    return q->count;
}

static apr_uint64_t birth_of(const qos_gate_t *gate)
{
    return __atomic_load_n(&gate->birth, __ATOMIC_ACQUIRE);
}

/* --------------------------------------------------------------------- notifying */

static apr_uint64_t *told_of(const vault_qos_t *q, apr_uint32_t slot)
{
    return q->told + (apr_size_t)slot * QOS_TOLD_WORDS(q->count);
}

/* Tell the slot that something has happened to one of its requests: first the pass, then that there is one. Where
 * a process dies in between, vault_notifier_all() follows. */
static void tell(const vault_qos_t *q, apr_uint32_t slot, apr_uint32_t index)
{
    apr_uint64_t *told;

    if (slot > vault_slot_last(q->notifier) || !qos_pass_at(q, index)) {
        return; /* a stray write */
    }
    told = told_of(q, slot);
    __atomic_fetch_or(&told[1 + (index - 1) / 64], APR_UINT64_C(1) << (index - 1) % 64, __ATOMIC_SEQ_CST);
    __atomic_store_n(&told[0], 1, __ATOMIC_SEQ_CST);
    vault_slot_ring(q->notifier, slot);
}

void vault_qos_collect(const vault_qos_t *q, unsigned slot, void (*look_at)(apr_uint32_t pass))
{
    apr_uint64_t *told, bits;
    unsigned word;

    if (!slot || slot > vault_slot_last(q->notifier)) {
        return;
    }
    told = told_of(q, slot);
    if (!__atomic_exchange_n(&told[0], 0, __ATOMIC_SEQ_CST)) {
        return;
    }
    for (word = 1; word < QOS_TOLD_WORDS(q->count); word++) {
        for (bits = __atomic_exchange_n(&told[word], 0, __ATOMIC_SEQ_CST); bits; bits &= bits - 1) {
            apr_uint32_t pass = (word - 1) * 64 + (unsigned)__builtin_ctzll(bits) + 1;

            if (pass <= q->count) { /* else a stray write */
                look_at(pass);
            }
        }
    }
}

/* Admits waiting requests and notifies their slots. Called with the gate locked; returns without the lock.
 * @param died  a process had died holding the lock: notify all */
static void admit_and_release(vault_qos_t *q, qos_gate_t *gate, int died)
{
    struct {
        apr_uint32_t index, slot;
    } told[HANDFUL];
    unsigned count, i;

    for (;;) {
        for (count = 0; count < HANDFUL && (told[count].index = qos_gate_admit(q, gate)); count++) {
            told[count].slot = qos_pass_at(q, told[count].index)->slot;
        }
        vault_lock_release(&gate->lock);
        for (i = 0; i < count; i++) {
            tell(q, told[i].slot, told[i].index);
        }
        if (count < HANDFUL) {
            break;
        }
        died |= qos_gate_acquire(q, gate);
    }
    if (died) {
        vault_notifier_all(q->notifier, 0);
    }
}

/* --------------------------------------------------------------- configuration */

void vault_qos_begin(vault_qos_t *q)
{
    qos_pool_configure(q, NULL);
}

/* Two long locations may differ only in the part that is cut off; the number keeps their names distinct. */
static void fit_name(char fitting[VAULT_QOS_NAME], const char *name)
{
    apr_size_t cut = VAULT_QOS_NAME - 1 - NUMBER;

    if (strlen(name) < VAULT_QOS_NAME) {
        apr_cpystrn(fitting, name, VAULT_QOS_NAME);
        return;
    }
    while (cut && ((unsigned char)name[cut] & 0xc0) == 0x80) {
        cut--; /* not in the middle of a UTF-8 character */
    }
    apr_snprintf(fitting, VAULT_QOS_NAME, "%.*s~%016" APR_UINT64_T_HEX_FMT, (int)cut, name, vault_hash_text(0, name));
}

/* Only the parent opens gates, so names and births do not change meanwhile. */
static qos_gate_t *find_gate(const vault_qos_t *q, const char *name)
{
    apr_uint32_t i;

    for (i = 1; i <= VAULT_QOS_ROOM; i++) {
        qos_gate_t *gate = qos_gate_at(q, i);

        if (birth_of(gate) && !strcmp(gate->name, name)) {
            return gate;
        }
    }
    return NULL;
}

static int is_idle(const vault_qos_t *q, qos_gate_t *gate)
{
    int died = qos_gate_acquire(q, gate), idle = !gate->in && !gate->queued && gate->era != q->table->era;

    vault_lock_release(&gate->lock);
    if (died) {
        vault_notifier_all(q->notifier, 0);
    }
    return idle;
}

/* A gate that was never used, or one of an older configuration without requests. */
static qos_gate_t *spare_gate(const vault_qos_t *q)
{
    apr_uint32_t i;

    for (i = 1; i <= VAULT_QOS_ROOM; i++) {
        qos_gate_t *gate = qos_gate_at(q, i);

        if (!birth_of(gate)) {
            return vault_lock_init(&gate->lock) == APR_SUCCESS ? gate : NULL;
        }
    }
    for (i = 1; i <= VAULT_QOS_ROOM; i++) {
        if (is_idle(q, qos_gate_at(q, i))) {
            return qos_gate_at(q, i);
        }
    }
    return NULL;
}

/* The gate keeps its passes. A request of an old child may have entered since the gate was idle; it leaves as
 * usual. */
static void rename_locked(vault_qos_t *q, qos_gate_t *gate, const char *name)
{
    __atomic_store_n(&gate->birth, ++q->table->births, __ATOMIC_RELEASE);
    gate->admitted = gate->refused = gate->timeouts = gate->gone = gate->displaced = 0;
    apr_cpystrn(gate->name, name, sizeof(gate->name));
}

apr_status_t vault_qos_open(vault_qos_t *q, const char *name, apr_uint32_t limit, apr_uint32_t each,
                            vault_qos_gate_t *handle)
{
    char fitting[VAULT_QOS_NAME];
    qos_gate_t *gate;
    int died, known;

    fit_name(fitting, name);
    gate = find_gate(q, fitting);
    known = gate != NULL;
    memset(handle, 0, sizeof(*handle));
    if (!gate && !(gate = spare_gate(q))) {
        return APR_ENOSPC;
    }
    died = qos_gate_acquire(q, gate);
    if (!known) {
        rename_locked(q, gate, fitting);
    }
    gate->limit = limit;
    gate->each = each;
    qos_pool_configure(q, gate);
    handle->birth = gate->birth;
    handle->index = qos_gate_index(q, gate);
    admit_and_release(q, gate, died);
    return APR_SUCCESS;
}

/* -------------------------------------------------------------------- requests */

/* Locks the gate of a handle. NULL: the gate has been reused for another name. */
static qos_gate_t *lock_gate(vault_qos_t *q, const vault_qos_gate_t *handle, int *died)
{
    qos_gate_t *gate = handle->birth ? qos_gate_at(q, handle->index) : NULL;

    if (!gate || birth_of(gate) != handle->birth) {
        return NULL;
    }
    *died = qos_gate_acquire(q, gate);
    if (gate->birth == handle->birth) {
        return gate;
    }
    admit_and_release(q, gate, *died);
    return NULL;
}

/* An arriving request and its result. If it displaces a request, the slot to notify. */
typedef struct newcomer_t {
    const vault_qos_entrant_t *who;
    int at_once; /* it can be admitted, and no queued request can be */
    apr_uint32_t index;
    apr_uint32_t told;
} newcomer_t;

/* The newcomer takes over the pass of the displaced request, so it needs none of the pool, which may be empty. */
static apr_status_t displace(vault_qos_t *q, qos_gate_t *gate, newcomer_t *n, apr_uint32_t loser)
{
    n->told = qos_pass_at(q, loser)->slot;
    n->index = loser;
    qos_gate_displace(q, gate, loser);
    return APR_SUCCESS;
}

/* If passes are short, a request that could be admitted at once displaces a queued one, as a request that has
 * to queue would. */
static apr_status_t find_pass(vault_qos_t *q, qos_gate_t *gate, newcomer_t *n)
{
    const vault_qos_entrant_t *who = n->who;
    int queues = !n->at_once, full = queues && gate->queued >= who->queue;
    int own = queues && who->share && qos_gate_queued_of(q, gate, who->client) >= who->share;
    apr_uint32_t loser;

    if (queues && !who->queue) {
        return gate->in < gate->limit ? APR_EBUSY : APR_ENOSPC;
    }
    if (!own && !full && (n->index = qos_pool_take(q, gate))) {
        return APR_SUCCESS;
    }
    loser = qos_gate_loser(q, gate, who, own);
    return qos_pass_at(q, loser) ? displace(q, gate, n, loser) : full ? APR_ENOSPC : own ? APR_EBUSY : APR_ENOMEM;
}

/* A request that can be admitted at once goes through the queue, too. */
static apr_status_t enter_locked(vault_qos_t *q, qos_gate_t *gate, newcomer_t *n, vault_qos_pass_t *pass)
{
    apr_status_t rv;
    qos_pass_t *p;

    n->at_once = qos_gate_has_room(q, gate, n->who->client) && !qos_gate_first(q, gate);
    rv = find_pass(q, gate, n);
    p = qos_pass_at(q, n->index);
    if (rv != APR_SUCCESS || !p) {
        gate->refused++;
        return rv;
    }
    pass->index = n->index;
    pass->gate = qos_gate_index(q, gate);
    pass->ticket = __atomic_add_fetch(&q->table->tickets, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&p->ticket, pass->ticket, __ATOMIC_RELEASE);
    __atomic_store_n(&p->slot, n->who->slot, __ATOMIC_RELAXED);
    p->rank = n->who->rank;
    p->client = n->who->client;
    qos_gate_append(q, gate, n->index);
    return n->at_once && qos_gate_admit(q, gate) == n->index ? APR_SUCCESS : APR_EAGAIN;
}

apr_status_t vault_qos_enter(vault_qos_t *q, const vault_qos_gate_t *handle, const vault_qos_entrant_t *who,
                             vault_qos_pass_t *pass)
{
    vault_qos_entrant_t ranked = *who;
    newcomer_t n = {&ranked, 0, 0, 0};
    int died = 0;
    qos_gate_t *gate;
    apr_status_t rv;

    if (!who->slot || who->slot > vault_slot_last(q->notifier)) {
        return APR_EINVAL;
    }
    if (!(gate = lock_gate(q, handle, &died))) {
        return APR_NOTFOUND;
    }
    ranked.rank = who->rank < VAULT_QOS_RANK_MAX ? who->rank : VAULT_QOS_RANK_MAX;
    rv = enter_locked(q, gate, &n, pass);
    admit_and_release(q, gate, died);
    if (n.told) {
        tell(q, n.told, n.index);
    }
    return rv;
}

/* Does the pass still belong to this request? Tickets are never reused. */
static int is_own(const qos_pass_t *p, const vault_qos_pass_t *pass)
{
    return p && pass->ticket && __atomic_load_n(&p->ticket, __ATOMIC_ACQUIRE) == pass->ticket;
}

/* Reads the state before the ticket: if another request has stored the state, its ticket is seen as well. */
int vault_qos_is_in(const vault_qos_t *q, const vault_qos_pass_t *pass)
{
    const qos_pass_t *p = qos_pass_at(q, pass->index);

    return p && qos_pass_state(p) == QOS_IN && is_own(p, pass);
}

int vault_qos_is_displaced(const vault_qos_t *q, const vault_qos_pass_t *pass)
{
    const qos_pass_t *p = qos_pass_at(q, pass->index);

    return p && pass->ticket && (qos_pass_state(p) == QOS_FREE || !is_own(p, pass));
}

static void count_leaver(qos_gate_t *gate, const qos_pass_t *pass, vault_qos_leave_t why)
{
    if (why == VAULT_QOS_LATE) {
        gate->timeouts++;
    }
    else if (why == VAULT_QOS_REFUSED) {
        gate->refused++;
    }
    else if (why == VAULT_QOS_GONE && pass->state == QOS_QUEUED) {
        gate->gone++;
    }
}

void vault_qos_leave(vault_qos_t *q, vault_qos_pass_t *pass, vault_qos_leave_t why)
{
    qos_gate_t *gate = qos_gate_at(q, pass->gate);
    qos_pass_t *p = qos_pass_at(q, pass->index);
    int died;

    if (!gate || !p) {
        return;
    }
    died = qos_gate_acquire(q, gate);
    if (qos_pass_gate(p) == pass->gate && qos_pass_state(p) != QOS_FREE && is_own(p, pass)) {
        count_leaver(gate, p, why);
        qos_gate_free(q, gate, pass->index);
    }
    admit_and_release(q, gate, died);
    memset(pass, 0, sizeof(*pass));
}

/* Frees the pass if it belongs to that slot. */
static void void_pass(vault_qos_t *q, apr_uint32_t index, unsigned slot)
{
    const qos_pass_t *pass = qos_pass_at(q, index);
    apr_uint32_t own = qos_pass_gate(pass);
    qos_gate_t *gate = qos_gate_at(q, own);
    int died;

    if (!gate || __atomic_load_n(&pass->slot, __ATOMIC_RELAXED) != slot) {
        return;
    }
    died = qos_gate_acquire(q, gate);
    if (qos_pass_gate(pass) == own && pass->state != QOS_FREE && pass->slot == slot) {
        qos_gate_free(q, gate, index);
    }
    admit_and_release(q, gate, died);
}

void vault_qos_slot_gone(vault_qos_t *q, unsigned slot)
{
    apr_uint32_t i, last = __atomic_load_n(&q->table->fresh, __ATOMIC_ACQUIRE);

    for (i = 1; i <= last && i <= q->count; i++) {
        void_pass(q, i, slot);
    }
    /* The process may have died holding the lock of a gate in which it had no pass. Gates are opened in the
     * order of their indexes. */
    for (i = 1; i <= VAULT_QOS_ROOM && birth_of(qos_gate_at(q, i)); i++) {
        int died = qos_gate_acquire(q, qos_gate_at(q, i));

        admit_and_release(q, qos_gate_at(q, i), died);
    }
}

/* --------------------------------------------------------------------- looking */

int vault_qos_facts(vault_qos_t *q, apr_uint32_t index, vault_qos_facts_t *facts)
{
    qos_gate_t *gate = qos_gate_at(q, index);
    int died;

    if (!gate || !birth_of(gate)) {
        return 0;
    }
    died = qos_gate_acquire(q, gate);
    memcpy(facts->name, gate->name, sizeof(facts->name));
    facts->limit = gate->limit;
    facts->each = gate->each;
    facts->running = gate->in;
    facts->queued = gate->queued;
    facts->configured = gate->era == __atomic_load_n(&q->table->era, __ATOMIC_RELAXED);
    facts->admitted = gate->admitted;
    facts->refused = gate->refused;
    facts->timeouts = gate->timeouts;
    facts->gone = gate->gone;
    facts->displaced = gate->displaced;
    admit_and_release(q, gate, died);
    return 1;
}

const char *vault_qos_check(vault_qos_t *q)
{
    const char *wrong = NULL;
    apr_uint32_t i;

    for (i = 1; i <= VAULT_QOS_ROOM && birth_of(qos_gate_at(q, i)) && !wrong; i++) {
        qos_gate_t *gate = qos_gate_at(q, i);
        int died = qos_gate_acquire(q, gate);

        wrong = qos_gate_check(q, gate);
        admit_and_release(q, gate, died);
    }
    return wrong ? wrong : qos_pool_check(q);
}
