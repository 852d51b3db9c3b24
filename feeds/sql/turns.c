/* SPDX-License-Identifier: Apache-2.0 */
/* Who is next where clients share a few places. */
#include "turns.h"

#include "apr_thread_cond.h"
#include "apr_thread_mutex.h"

/* The last turns that are remembered: a client that had none of them is as one that had none at all. */
#define REMEMBERED 64

/* A call that waits, on its own stack. */
typedef struct waiter_t {
    struct waiter_t *next; /* lock */
    apr_uint64_t client;
    int has_turn; /* lock */
} waiter_t;

struct sql_turns_t {
    apr_thread_mutex_t *lock;
    apr_thread_cond_t *changed; /* a waiter has its turn */
    unsigned places;            /* const after create */
    unsigned held;              /* lock: places that are taken; all of them while a call waits */
    apr_uint64_t *holders;      /* lock: the client of each of them */
    waiter_t *first;            /* lock: in the order in which they came */
    apr_uint64_t last[REMEMBERED];
    apr_uint64_t turns; /* lock: how many there were; `last` has them by this number, modulo REMEMBERED */
};

apr_status_t sql_turns_create(sql_turns_t **turns, unsigned places, apr_pool_t *pool)
{
    sql_turns_t *t = apr_pcalloc(pool, sizeof(*t));
    apr_status_t rv = apr_thread_mutex_create(&t->lock, APR_THREAD_MUTEX_DEFAULT, pool);

    t->places = places;
    t->holders = apr_pcalloc(pool, places * sizeof(*t->holders));
    *turns = t;
    return rv != APR_SUCCESS ? rv : apr_thread_cond_create(&t->changed, pool);
}

static void begin_turn(sql_turns_t *t, apr_uint64_t client)
{
    t->holders[t->held++] = client;
    t->last[t->turns++ % REMEMBERED] = client;
}

static void end_turn(sql_turns_t *t, apr_uint64_t client)
{
    for (unsigned i = 0; i < t->held; i++) {
        if (t->holders[i] == client) {
            t->holders[i] = t->holders[--t->held];
            return;
        }
    }
}

static unsigned places_of(const sql_turns_t *t, apr_uint64_t client)
{
    unsigned places = 0;

    for (unsigned i = 0; i < t->held; i++) {
        places += t->holders[i] == client;
    }
    return places;
}

/* How many turns ago this client had its last one, REMEMBERED at most. */
static unsigned age_of(const sql_turns_t *t, apr_uint64_t client)
{
    const unsigned known = t->turns < REMEMBERED ? (unsigned)t->turns : REMEMBERED;

    for (unsigned ago = 0; ago < known; ago++) {
        if (t->last[(t->turns - 1 - ago) % REMEMBERED] == client) {
            return ago;
        }
    }
    return REMEMBERED;
}

/* @return the link to the waiter whose turn it is; NULL: none waits */
static waiter_t **find_next(sql_turns_t *t)
{
    waiter_t **best = NULL;
    unsigned best_places = 0;
    unsigned best_age = 0;

    for (waiter_t **link = &t->first; *link != NULL; link = &(*link)->next) {
        const unsigned places = places_of(t, (*link)->client);
        const unsigned age = age_of(t, (*link)->client);

        if (best == NULL || places < best_places || (places == best_places && age > best_age)) {
            best = link;
            best_places = places;
            best_age = age;
        }
    }
    return best;
}

static void append_waiter(sql_turns_t *t, waiter_t *waiter)
{
    waiter_t **link = &t->first;

    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = waiter;
}

static void remove_waiter(sql_turns_t *t, const waiter_t *waiter)
{
    waiter_t **link = &t->first;

    while (*link != waiter) {
        link = &(*link)->next;
    }
    *link = waiter->next;
}

apr_status_t sql_turns_take(sql_turns_t *t, apr_uint64_t client, apr_interval_time_t timeout)
{
    const apr_time_t end = apr_time_now() + timeout;
    waiter_t waiter = {NULL, client, 0};

    apr_thread_mutex_lock(t->lock);
    if (t->held < t->places) {
        begin_turn(t, client);
        waiter.has_turn = 1;
    }
    else {
        append_waiter(t, &waiter);
        for (apr_interval_time_t left = timeout; !waiter.has_turn && left > 0; left = end - apr_time_now()) {
            apr_thread_cond_timedwait(t->changed, t->lock, left);
        }
        if (!waiter.has_turn) {
            remove_waiter(t, &waiter);
        }
    }
    apr_thread_mutex_unlock(t->lock);
    return waiter.has_turn ? APR_SUCCESS : APR_TIMEUP;
}

void sql_turns_give(sql_turns_t *t, apr_uint64_t client)
{
    waiter_t **next;

    apr_thread_mutex_lock(t->lock);
    end_turn(t, client);
    next = find_next(t);
    if (next != NULL) {
        waiter_t *waiter = *next;

        *next = waiter->next;
        begin_turn(t, waiter->client);
        waiter->has_turn = 1;
        apr_thread_cond_broadcast(t->changed);
    }
    apr_thread_mutex_unlock(t->lock);
}

unsigned sql_turns_waiting(sql_turns_t *t)
{
    unsigned waiting = 0;

    apr_thread_mutex_lock(t->lock);
    for (const waiter_t *waiter = t->first; waiter != NULL; waiter = waiter->next) {
        waiting++;
    }
    apr_thread_mutex_unlock(t->lock);
    return waiting;
}
