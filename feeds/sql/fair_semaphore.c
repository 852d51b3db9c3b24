/* SPDX-License-Identifier: Apache-2.0 */
/* Grants a released permit to the client that holds the fewest. */
#include "sql/fair_semaphore.h"

#include "apr_thread_cond.h"
#include "apr_thread_mutex.h"

/* How many of the latest grants are recorded. A client without a grant among them counts as one that never had one. */
#define REMEMBERED 64

/* A call that waits. It is on the stack of that call. */
typedef struct waiter_t {
    struct waiter_t *next; /* lock */
    apr_uint64_t client;
    int granted; /* lock */
} waiter_t;

struct sql_semaphore_t {
    apr_thread_mutex_t *lock;
    apr_thread_cond_t *changed; /* signalled when a waiter is granted its permit */
    unsigned permits;           /* const after create */
    unsigned held;              /* lock: permits in use; all of them while a call waits */
    apr_uint64_t *holders;      /* lock: the client of each permit in use */
    waiter_t *first;            /* lock: the queue, in order of arrival */
    apr_uint64_t last[REMEMBERED];
    apr_uint64_t grants; /* lock: how many there were; grant n was to the client last[n % REMEMBERED] */
};

apr_status_t sql_semaphore_create(sql_semaphore_t **semaphore, unsigned permits, apr_pool_t *pool)
{
    sql_semaphore_t *t = apr_pcalloc(pool, sizeof(*t));
    apr_status_t rv = apr_thread_mutex_create(&t->lock, APR_THREAD_MUTEX_DEFAULT, pool);

    t->permits = permits;
    t->holders = apr_pcalloc(pool, permits * sizeof(*t->holders));
    *semaphore = t;
    return rv != APR_SUCCESS ? rv : apr_thread_cond_create(&t->changed, pool);
}

static void grant(sql_semaphore_t *t, apr_uint64_t client)
{
    t->holders[t->held++] = client;
    t->last[t->grants++ % REMEMBERED] = client;
}

static void take_back(sql_semaphore_t *t, apr_uint64_t client)
{
    for (unsigned i = 0; i < t->held; i++) {
        if (t->holders[i] == client) {
            t->holders[i] = t->holders[--t->held];
            return;
        }
    }
}

static unsigned permits_of(const sql_semaphore_t *t, apr_uint64_t client)
{
    unsigned permits = 0;

    for (unsigned i = 0; i < t->held; i++) {
        permits += t->holders[i] == client;
    }
    return permits;
}

/* How many grants ago this client had its last one, at most REMEMBERED. */
static unsigned grants_since(const sql_semaphore_t *t, apr_uint64_t client)
{
    const unsigned known = t->grants < REMEMBERED ? (unsigned)t->grants : REMEMBERED;

    for (unsigned ago = 0; ago < known; ago++) {
        if (t->last[(t->grants - 1 - ago) % REMEMBERED] == client) {
            return ago;
        }
    }
    return REMEMBERED;
}

/* @return the link to the waiter that gets the next permit; NULL: no call waits */
static waiter_t **find_next(sql_semaphore_t *t)
{
    waiter_t **best = NULL;
    unsigned best_permits = 0;
    unsigned best_since = 0;

    for (waiter_t **link = &t->first; *link != NULL; link = &(*link)->next) {
        const unsigned permits = permits_of(t, (*link)->client);
        const unsigned since = grants_since(t, (*link)->client);

        if (best == NULL || permits < best_permits || (permits == best_permits && since > best_since)) {
            best = link;
            best_permits = permits;
            best_since = since;
        }
    }
    return best;
}

static void append_waiter(sql_semaphore_t *t, waiter_t *waiter)
{
    waiter_t **link = &t->first;

    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = waiter;
}

static void remove_waiter(sql_semaphore_t *t, const waiter_t *waiter)
{
    waiter_t **link = &t->first;

    while (*link != waiter) {
        link = &(*link)->next;
    }
    *link = waiter->next;
}

apr_status_t sql_semaphore_acquire(sql_semaphore_t *t, apr_uint64_t client, apr_interval_time_t timeout)
{
    const apr_time_t end = apr_time_now() + timeout;
    waiter_t waiter = {NULL, client, 0};

    apr_thread_mutex_lock(t->lock);
    if (t->held < t->permits) {
        grant(t, client);
        waiter.granted = 1;
    }
    else {
        append_waiter(t, &waiter);
        for (apr_interval_time_t left = timeout; !waiter.granted && left > 0; left = end - apr_time_now()) {
            apr_thread_cond_timedwait(t->changed, t->lock, left);
        }
        if (!waiter.granted) {
            remove_waiter(t, &waiter);
        }
    }
    apr_thread_mutex_unlock(t->lock);
    return waiter.granted ? APR_SUCCESS : APR_TIMEUP;
}

void sql_semaphore_release(sql_semaphore_t *t, apr_uint64_t client)
{
    waiter_t **next;

    apr_thread_mutex_lock(t->lock);
    take_back(t, client);
    next = find_next(t);
    if (next != NULL) {
        waiter_t *waiter = *next;

        *next = waiter->next;
        grant(t, waiter->client);
        waiter->granted = 1;
        apr_thread_cond_broadcast(t->changed);
    }
    apr_thread_mutex_unlock(t->lock);
}

unsigned sql_semaphore_waiting(sql_semaphore_t *t)
{
    unsigned waiting = 0;

    apr_thread_mutex_lock(t->lock);
    for (const waiter_t *waiter = t->first; waiter != NULL; waiter = waiter->next) {
        waiting++;
    }
    apr_thread_mutex_unlock(t->lock);
    return waiting;
}
