/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file waiters_inside.h
 * What the files of the waiters share: waiters_bells.c, waiters_polls.c, waiters_waker.c and waiters.c. For these only.
 */
#ifndef VAULT_WAITERS_INSIDE_H
#define VAULT_WAITERS_INSIDE_H

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "apr_thread_proc.h"

#include "deadlines.h"
#include "waiters.h"

/** A bell, found by its descriptor. The MPM polls for it while it is carried. */
typedef struct vault_bell_t {
    enum {
        VAULT_BELL_HERE,    /* it is not carried */
        VAULT_BELL_CARRIED, /* it is, and has not been rung for that */
        VAULT_BELL_HELD,    /* it is to ring when a thread has come for another one */
        VAULT_BELL_HANDED   /* it rings, and no thread has come for it yet */
    } state;
    int next, prev; /* descriptors, in the queue of those that are HELD; -1: none */
} vault_bell_t;

struct vault_waiters_t {
    vault_notifier_t *notifier;           /* const */
    vault_counters_t *counters;           /* const */
    unsigned slot;                        /* const */
    unsigned window;                      /* const */
    unsigned hands;                       /* const; so many bells are HANDED at a time */
    vault_interest_t interests;           /* const; largest index */
    void (*tick)(void *);                 /* const */
    void *baton;                          /* const */
    apr_thread_t *thread;                 /* const */
    int epoll, control;                   /* const */
    int stop, halt, quit, ended;          /* atomic */
    void (*let_in)(void *, apr_uint32_t); /* atomic; after its baton */
    void *let_in_baton;
    pthread_mutex_t lock;
    vault_wait_t **lists;        /* lock; by interest */
    vault_deadlines_t deadlines; /* lock; also the list of all that are attached */
    vault_poll_t queue;          /* lock; head of the ring of QUEUED polls */
    unsigned running;            /* lock; polls whose turn it is */
    int stopped;                 /* lock */
    apr_time_t wakes_at;         /* lock; when the waker looks at deadlines next */
    int *free;                   /* lock; bells that belong to no poll */
    apr_size_t free_bells, free_room;
    vault_bell_t *bells;         /* lock; by descriptor */
    int bells_end;               /* lock; the first descriptor that has no place there */
    int held_first, held_last;   /* lock; the queue of those that are HELD */
    unsigned handed;             /* lock; how many are HANDED */
    unsigned fetched, looked_at; /* lock; for how many a thread has come, and how many those were a second ago */
    vault_interest_t drained[VAULT_SLOT_QUEUE]; /* waker thread */
};

static inline void ring(int fd)
{
    apr_uint64_t one = 1;

    while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR) {
    }
}

static inline void silence(int fd)
{
    apr_uint64_t n;

    while (read(fd, &n, sizeof(n)) < 0 && errno == EINTR) {
    }
}

static inline int has_halted(const vault_waiters_t *w)
{
    return __atomic_load_n(&w->halt, __ATOMIC_SEQ_CST);
}

/** Leave a cause with a poll that is attached, and ring when it is its turn. Locked. */
void vault_waiters_wake_locked(vault_waiters_t *w, vault_poll_t *poll, unsigned cause);

/** All that are meant: by VAULT_CAUSE_STOP those that do not outlast it, else those that wait for an interest. Locked. */
void vault_waiters_wake_all_locked(vault_waiters_t *w, unsigned cause);

/** A bell for a poll. @return its descriptor, or -1 and errno */
int vault_bells_take(vault_waiters_t *w);

/** The poll does not need it any more. Locked. */
void vault_bells_give_locked(vault_waiters_t *w, int fd);

/** It is carried from here on, and then no more: a thread has come for it, or the connection ends. Locked. */
void vault_bells_carry_locked(vault_waiters_t *w, int fd);
void vault_bells_release_locked(vault_waiters_t *w, int fd);

/** Ring it: at once, or in its order, when too many are HANDED. Locked. */
void vault_bells_ring_locked(vault_waiters_t *w, int fd);

/** Once a second, by the waker: see that no bell is HELD for ever. */
void vault_bells_look(vault_waiters_t *w);

void vault_bells_free(vault_waiters_t *w);

/** Start the thread that rings for notifications, deadlines and clients. `epoll` and `control` are there.
 * @return APR_SUCCESS or an error of epoll_ctl or of the thread's */
apr_status_t vault_waiters_start_waker(vault_waiters_t *w, apr_pool_t *pool);

#endif
