/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file waiter.h
 * One request that can wait: its state, why it was woken, and until when it waits.
 *
 * The states are those of wait_state.h. While the request is suspended it is in the lists of the waiters
 * (waiters.h), where wakers find it. A waker notes its cause and signals the request's wakeup: one write to an
 * eventfd. The MPM's pollset, or the thread that sleeps in vault_waiter_sleep(), watches the eventfd and brings a
 * thread. So notifications, timeouts, clients that hang up and a stop of the child may race: each notes its cause,
 * and the one thread that comes finds all of them. A signal may come early (before anything watches), late or for
 * nothing. None is lost, since an eventfd keeps it.
 *
 * Threads: the one that owns the request (wait_state.h), unless a comment says otherwise.
 */
#ifndef VAULT_WAITER_H
#define VAULT_WAITER_H

#include "apr_errno.h"
#include "apr_time.h"

#include "notify/notifier.h"
#include "wait/wait_state.h"

/** Why a request was woken; several causes may come together. */
enum {
    VAULT_CAUSE_NOTIFY = 1,   /* an interest was notified: arm, then compare the stamps */
    VAULT_CAUSE_DUE = 2,      /* its due time has come, but not its end */
    VAULT_CAUSE_STOP = 4,     /* this child ends: nothing may wait here any more */
    VAULT_CAUSE_END = 8,      /* its time is up */
    VAULT_CAUSE_RESUME = 16,  /* another thread resumed it by name: vault_waiter_wake() */
    VAULT_CAUSE_COMPLETE = 32 /* another thread completed it by name: its handlers do not run again */
    /* none: the client hung up or sent early, or the signal was for nothing: look at the connection, arm, compare */
};

typedef struct vault_waiters_t vault_waiters_t;
typedef struct vault_waiter_t vault_waiter_t;

/** A waiter on the list of one interest. */
typedef struct vault_wait_t {
    vault_waiter_t *waiter;
    vault_interest_t interest;
    struct vault_wait_t *next, **link; /* lock */
} vault_wait_t;

/** One request that can wait. Zeroed memory of its owner's, which must not be freed before vault_waiter_close(). */
struct vault_waiter_t {
    vault_wait_state_t state; /* atomic; vault_wait_step() alone changes it */
    unsigned causes; /* lock; the owner's while no waker reaches it: why it was woken since it was last attached */
    int wakeup;      /* const between open and close: an eventfd; -1 outside */
    int outlasts;    /* owner; a stop of the child does not wake it: it waits on */
    int in_thread;   /* owner; it waits in its thread */
    int counted;     /* lock; in the counters of those that wait */
    int turn;        /* lock; NONE, QUEUED or RUNNING */
    apr_time_t due;  /* owner, then lock; when it is given a turn at the latest */
    apr_time_t end;  /* owner, then lock; when its time is up. If `due` comes later, it is woken at `due` */
    int writes; /* owner; above 0: it is woken when its client's socket can be written to, or hangs up; without a socket
                                 it sleeps for so many ms */
    apr_size_t heap_index; /* lock */
    vault_wait_t *waits;   /* lock; one an interest */
    unsigned count;
    vault_waiter_t *next, *prev; /* lock; the queue of those whose turn it is not yet */
};

/** Get a wakeup for it. @return APR_SUCCESS, or the error of eventfd (APR_EMFILE) */
apr_status_t vault_waiter_open(vault_waiters_t *w, vault_waiter_t *waiter);

/** SUSPEND: enter it into the lists, with all these interests, until `waiter->due` or `waiter->end`, which the
 * caller has set. From here on its wakeup may be signalled. Arm and compare only after this (notifier.h).
 * @param waits  `count` of them with `interest` filled in; memory of the owner's, until the waiter is detached
 * @return 1 attached; 0 this child is stopping, or the request has ended: it must not wait */
int vault_waiter_attach(vault_waiters_t *w, vault_waiter_t *waiter, vault_wait_t *waits, unsigned count);

/** SUSPEND once more: its time is up at `end` if that is before what was set. Does nothing when it is not suspended. */
void vault_waiter_shorten(vault_waiters_t *w, vault_waiter_t *waiter, apr_time_t end);

/** REVOKE: take it out of the lists and clear its wakeup.
 * @return its causes so far; 0 also when it was not attached */
unsigned vault_waiter_detach(vault_waiters_t *w, vault_waiter_t *waiter);

/** WAKE it by name. The first of these two causes holds; later ones change nothing.
 * @param cause  RESUME or COMPLETE
 * @return its causes with this one, so that the caller sees which of the two holds; 0: it is not suspended,
 * nothing was done. Any thread, as long as the waiter's memory is there. */
unsigned vault_waiter_wake(vault_waiters_t *w, vault_waiter_t *waiter, unsigned cause);

/** Any event of a thread that has come for the request, or that ends it: COLLECT, TAKE, HANG_UP, END. When the
 * request leaves the suspended states it is taken out of the lists. Its wakeup is cleared, also when it waits on
 * (VAULT_DO_KEEP): what comes from now on signals it again. Any thread, as long as the waiter's memory is there.
 * @return what the caller has to do. After VAULT_DO_RUN it owns the request, and `causes` says why */
vault_wait_action_t vault_waiter_step(vault_waiters_t *w, vault_waiter_t *waiter, vault_wait_event_t event);

/** Its turn, if it had one, is over: the next waiter may go. Called before it waits again, attached and armed: what
 * came meanwhile gives it another turn, behind the others. From here on it counts as waiting: a reader that sees it
 * counted knows that it has compared, has found nothing, and is woken by whatever comes. */
void vault_waiter_finish(vault_waiters_t *w, vault_waiter_t *waiter);

/** A connection carries the wakeup from now on (`carried` 1): its socket has the descriptor of the wakeup in place
 * of its own, so the MPM polls for the wakeup, and closes it when the MPM ends at once. `carried` 0: the
 * connection carries it no more, since a thread has collected it or the connection ends. A carried wakeup that is
 * signalled counts against `signal_limit` until then. At the limit the waiters defer further signals, and send
 * them in order of arrival. */
void vault_waiter_carry(vault_waiters_t *w, const vault_waiter_t *waiter, int carried);

/** The MPM has closed the wakeup: it must neither be signalled nor be given to another waiter. */
void vault_waiter_lose_wakeup(vault_waiters_t *w, vault_waiter_t *waiter);

/** Done with waiting: detach and finish, if need be, and give the wakeup back. One that is WAITING or WOKEN ends.
 * May be called twice. */
void vault_waiter_close(vault_waiters_t *w, vault_waiter_t *waiter);

/** Wait in this thread for the wakeup of an attached waiter.
 * @param fd     the client's socket, watched too; -1: none, and then it returns after half a second, or after
 *               `writes`, so that the caller can look
 * @param talks  1: data on `fd` end the sleep as well as a hang-up
 * Returns when the wakeup is signalled or something happens on `fd`; both may be for nothing. */
void vault_waiter_sleep(const vault_waiter_t *waiter, int fd, int talks);

#endif
