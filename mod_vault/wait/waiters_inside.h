/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file waiters_inside.h
 * What the files of the waiters share: waiters_wakeups.c, waiter.c, waiters_waker.c and waiters.c. For these only.
 */
#ifndef VAULT_WAITERS_INSIDE_H
#define VAULT_WAITERS_INSIDE_H

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "apr_thread_proc.h"

#include "wait/deadlines.h"
#include "wait/waiters.h"

/** The wakeup with this descriptor, an eventfd. The MPM polls for it while a connection carries it
 * (vault_waiter_carry()). */
typedef struct vault_wakeup_t {
    enum {
        VAULT_WAKEUP_UNCARRIED, /* no connection carries it */
        VAULT_WAKEUP_CARRIED,   /* a connection carries it, and it is not signalled */
        VAULT_WAKEUP_DEFERRED,  /* it will be signalled when a thread has collected another one */
        VAULT_WAKEUP_SIGNALLED  /* it is signalled, and no thread has collected it yet */
    } state;
    int next, prev; /* descriptors in the queue of DEFERRED wakeups; -1: none */
} vault_wakeup_t;

struct vault_waiters_t {
    vault_notifier_t *notifier;  /* const */
    vault_counters_t *counters;  /* const */
    unsigned slot;               /* const */
    unsigned window;             /* const */
    unsigned signal_limit;       /* const; how many wakeups may be SIGNALLED at a time */
    vault_interest_t interests;  /* const; largest index */
    void (*tick)(void *);        /* const */
    void *baton;                 /* const */
    apr_thread_t *thread;        /* const */
    int epoll, control;          /* const */
    int stop, halt, quit, ended; /* atomic */
    void (*woken)(int all);      /* atomic */
    pthread_mutex_t lock;
    vault_wait_t **lists;        /* lock; by interest */
    vault_deadlines_t deadlines; /* lock; also the list of all that are attached */
    vault_waiter_t queue;        /* lock; head of the circular list of QUEUED waiters */
    unsigned running;            /* lock; waiters whose turn it is */
    int stopped;                 /* lock */
    apr_time_t wakes_at;         /* lock; when the waker looks at deadlines next */
    int *free;                   /* lock; wakeups that belong to no waiter */
    apr_size_t free_count, free_room;
    vault_wakeup_t *wakeups;                    /* lock; by descriptor */
    int wakeups_end;                            /* lock; the first descriptor without an entry there */
    int deferred_first, deferred_last;          /* lock; the queue of DEFERRED wakeups */
    unsigned signalled;                         /* lock; how many wakeups are SIGNALLED */
    unsigned collected;                         /* lock; how many wakeups threads have collected */
    unsigned collected_before;                  /* lock; how many those were a second ago */
    vault_interest_t drained[VAULT_SLOT_QUEUE]; /* waker thread */
};

static inline void signal_fd(int fd)
{
    apr_uint64_t one = 1;

    while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR) {
    }
}

static inline void clear_fd(int fd)
{
    apr_uint64_t n;

    while (read(fd, &n, sizeof(n)) < 0 && errno == EINTR) {
    }
}

static inline int has_halted(const vault_waiters_t *w)
{
    return __atomic_load_n(&w->halt, __ATOMIC_SEQ_CST);
}

/** WAKE: note a cause with a suspended waiter, and signal its wakeup when it is its turn. Locked. */
void vault_waiters_wake_locked(vault_waiters_t *w, vault_waiter_t *waiter, unsigned cause);

/** Wake those that the cause is for: VAULT_CAUSE_STOP for those that do not outlast it, others for those that wait
 * for an interest. Locked. */
void vault_waiters_wake_all_locked(vault_waiters_t *w, unsigned cause);

/** Get a wakeup for a waiter: a free one, or a new eventfd. @return its descriptor, or -1 and errno */
int vault_wakeup_alloc(vault_waiters_t *w);

/** Free the wakeup, for another waiter. The eventfd stays open. Locked. */
void vault_wakeup_free_locked(vault_waiters_t *w, int fd);

/** A connection carries the wakeup from now on; or no more, since a thread has collected it or the connection ends.
 * Locked. */
void vault_wakeup_carry_locked(vault_waiters_t *w, int fd);
void vault_wakeup_uncarry_locked(vault_waiters_t *w, int fd);

/** Signal the wakeup at once. If `signal_limit` wakeups are SIGNALLED, defer a carried one. Locked. */
void vault_wakeup_signal_locked(vault_waiters_t *w, int fd);

/** Does a connection carry the wakeup, and it has not been signalled since? Locked. */
int vault_wakeup_is_quiet_locked(const vault_waiters_t *w, int fd);

/** See that no wakeup is DEFERRED for ever. The waker calls it once a second. */
void vault_wakeups_check_stall(vault_waiters_t *w);

void vault_wakeups_destroy(vault_waiters_t *w);

/** Start the thread that wakes for notifications, deadlines and clients. `epoll` and `control` are there.
 * @return APR_SUCCESS or an error of epoll_ctl or of the thread's */
apr_status_t vault_waiters_start_waker(vault_waiters_t *w, apr_pool_t *pool);

#endif
