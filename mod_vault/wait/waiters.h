/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file waiters.h
 * The polls that wait in this child: on which interests, until when, and whose turn it is to be woken.
 *
 * A waiting poll has one owner. While it is attached it is the waiters': they may ring its bell, nothing else. To ring is one
 * write to the bell, an eventfd; whoever watches it (the MPM's pollset, or a thread in poll(2)) brings the poll to a thread, and
 * that thread calls vault_waiter_detach() and owns the poll from there. So notify, deadline, hang-up and stop may race as they
 * like: each leaves its cause and rings, the one thread that comes finds all of them. A ring may come early (before anybody
 * watches), late or for nothing; none is missed, since an eventfd keeps it.
 *
 * At most `window` polls are woken at a time; each that is done lets the next one go (vault_waiter_finish). A broadcast to thousands
 * thus leaves threads free for the rest of the site and does not stampede the backend. Whose time is up needs no turn: it is only
 * answered.
 *
 * One thread a child, the waker, drains the wake queue, watches deadlines and the clients' sockets.
 *
 * Threads: any of this process. One lock, held for list moves only; nothing is called under it. (Order: list > stripe > queue.)
 */
#ifndef VAULT_WAITERS_H
#define VAULT_WAITERS_H

#include "apr_time.h"

#include "notify/slot.h"

/** Why a poll was woken; several may come together. */
enum {
    VAULT_CAUSE_NOTIFY = 1, /* an interest was notified: arm and look */
    VAULT_CAUSE_DUE = 2,    /* its due time has come, but not its end */
    VAULT_CAUSE_STOP = 4,   /* this child ends: nothing may wait here any more */
    VAULT_CAUSE_END = 8,    /* the poll's time is up; as STOP it needs no turn, since nothing will run */
    VAULT_CAUSE_RESUME =
        16, /* somebody called it by name: vault_waiter_wake(); no turn either, since the caller says how many go */
    VAULT_CAUSE_COMPLETE = 32 /* the same, and nothing is to run for it any more */
    /* none: the client hung up or sent early, or the ring was extraneous: look at the connection, arm and look */
};

typedef struct vault_waiters_t vault_waiters_t;
typedef struct vault_waiter_t vault_waiter_t;

/** A poll on the list of one interest. */
typedef struct vault_wait_t {
    vault_waiter_t *waiter;
    vault_interest_t interest;
    struct vault_wait_t *next, **link; /* lock */
} vault_wait_t;

/** A poll that can wait. Zeroed memory of the owner's; it must not go before vault_waiter_close(). */
struct vault_waiter_t {
    int wakeup;      /* const between begin and end; -1 outside */
    unsigned causes; /* lock */
    int attached;    /* lock */
    int outlasts;    /* owner; STOP is not for it: it waits on in a child that stops */
    int counted;     /* lock; as one that waits */
    int carried;     /* lock; the MPM has the bell and may close it, see vault_waiters_halt() */
    int turn;        /* lock; NONE, QUEUED or RUNNING */
    apr_time_t due;  /* owner, then lock; when it is given a turn at the latest */
    apr_time_t end;  /* owner, then lock; when its time is up, not before `due` */
    int writes; /* owner; above 0: it cares for the client's socket only when that can be written to, or hangs up; without a socket
                   it sleeps for so many ms */
    apr_size_t heap_index; /* lock */
    vault_wait_t *waits;   /* lock; one an interest */
    unsigned count;
    vault_waiter_t *next, *prev; /* lock; the queue of those whose turn it is not yet */
};

/** Begin to let polls wait in this child. Starts the waker thread.
 * @param slot    this child's
 * @param window  how many are woken at a time, at least 1
 * @param ring_limit  how many carried bells ring at a time, at least 1; see vault_waiter_carry()
 * @param tick    called by the waker, without any lock: about once a second, also while stopping; ten times a second
 *                after vault_waiters_halt(); may be NULL
 * @return APR_SUCCESS, or what the system said */
apr_status_t vault_waiters_create(vault_waiters_t **waiters, vault_notifier_t *notifier, unsigned slot, unsigned window,
                                  unsigned ring_limit, void (*tick)(void *baton), void *baton, apr_pool_t *pchild);

/** Have passes that were let in or displaced (qos.h) told to `let_in`: by the waker, without any lock.
 * @param let_in  of this pass; 0: look at all of them, it may be any */
void vault_waiters_on_pass(vault_waiters_t *w, void (*let_in)(void *baton, apr_uint32_t pass), void *baton);

/** Nothing waits here any more: every poll is woken with STOP, and vault_waiter_attach() refuses from now on.
 * Only sets a flag and writes one eventfd: also for a signal handler. */
void vault_waiters_stop(vault_waiters_t *w);

/** This process ends at once, and the bells that are carried (vault_waiter_carry) may be closed already: their numbers may be those of
 * somebody's file by now, so nobody rings them any more. Call vault_waiters_stop() as well, after it. Only sets a flag. */
void vault_waiters_halt(vault_waiters_t *w);

/** Ring for one of the polls whose bell is carried, for nothing: so the MPM's listener looks at all that it has to.
 * @return 0 there is none */
int vault_waiters_nudge(vault_waiters_t *w);

/** Has vault_waiters_stop() been called? Has vault_waiters_halt()? */
int vault_waiters_stopping(const vault_waiters_t *w);
int vault_waiters_halted(const vault_waiters_t *w);

/** Stop the waker thread and wait for its end; not for ever, since a signal handler may call this that has interrupted a thread of
 * this process while it held the lock (prefork). */
void vault_waiters_destroy(vault_waiters_t *w);

/** Give the poll a bell. @return APR_SUCCESS, or what eventfd said (APR_EMFILE) */
apr_status_t vault_waiter_open(vault_waiters_t *w, vault_waiter_t *waiter);

/** Let the poll wait, on all these interests, until `poll->due` or `poll->end`, which the caller has set. From here on its bell may
 * ring. Arm and compare only after (notifier.h).
 * @param waits  `count` of them with `interest` filled in; memory of the poll's owner, until the poll is detached
 * @return 1 attached; 0 this child is stopping: it must not wait */
int vault_waiter_attach(vault_waiters_t *w, vault_waiter_t *waiter, vault_wait_t *waits, unsigned count);

/** The poll waits no more and is the caller's. Silences the bell.
 * @return the causes so far, all forgotten; 0 also when it was not attached */
unsigned vault_waiter_detach(vault_waiters_t *w, vault_waiter_t *waiter);

/** Wake this one poll. The first of these two causes holds; later ones change nothing.
 * @param cause  RESUME or COMPLETE
 * @return its causes with this one, so that the caller sees which of the two holds; 0: it does not wait, nothing was done.
 * Any thread, as long as the poll's memory is there. */
unsigned vault_waiter_wake(vault_waiters_t *w, vault_waiter_t *waiter, unsigned cause);

/** Its time is up at `end` if that is before what was set. Does nothing when it does not wait. */
void vault_waiter_shorten(vault_waiters_t *w, vault_waiter_t *waiter, apr_time_t end);

/** The bell rang: as vault_waiter_detach() if there is a cause. Without one the poll goes on waiting, its bell silenced: what comes
 * from now on rings again.
 * @return the causes; 0: it still waits */
unsigned vault_waiter_take(vault_waiters_t *w, vault_waiter_t *waiter);

/** The poll has had its turn, if it was its turn: the next one may go. Called before it waits again, attached and armed: what
 * came meanwhile gives it another turn, behind the others. From here on it counts as waiting: whoever sees it counted knows that
 * it has looked, found nothing, and is woken by whatever comes. */
void vault_waiter_finish(vault_waiters_t *w, vault_waiter_t *waiter);

/** A connection carries the bell from now on (`carried` 1): its socket has the descriptor of the bell in place of its
 * own, so the MPM polls for the bell, and closes it when the MPM ends at once. `carried` 0: the connection carries it no
 * more, since a thread has collected it or the connection ends. A carried bell that rings counts against `ring_limit`
 * until then. At the limit the module defers further bells, and rings them in order of arrival. */
void vault_waiter_carry(vault_waiters_t *w, vault_waiter_t *waiter, int carried);

/** Somebody else has closed the bell: it must neither be rung nor be given to another poll. */
void vault_waiter_lose_wakeup(vault_waiters_t *w, vault_waiter_t *waiter);

/** Done with waiting, from whatever state: detach, finish, and the bell goes back. May be called twice. */
void vault_waiter_close(vault_waiters_t *w, vault_waiter_t *waiter);

/** Ring the bell when `fd`, the client's socket, hangs up; once. Of a poll that writes: also when it can be written to.
 * @param talks  1: also when it has data, unless the poll writes */
apr_status_t vault_waiters_watch(vault_waiters_t *w, int fd, const vault_waiter_t *waiter, int talks);
void vault_waiters_unwatch(vault_waiters_t *w, int fd);

/** Wait in this thread for the bell of an attached poll.
 * @param fd     the client's socket, watched too; -1: none, and then it returns after half a second, or after `writes`, so that the
 *               caller can look
 * @param talks  1: data on `fd` end the sleep as well as a hang-up
 * Returns when the bell rings or something happens on `fd`; both may be for nothing. */
void vault_waiter_sleep(const vault_waiter_t *sleeper, int fd, int talks);

/** Take any poll out that waits, for when the child ends and nobody will come for it. @return NULL: none waits */
vault_waiter_t *vault_waiters_pop(vault_waiters_t *w);

/** Polls attached now. */
unsigned vault_waiters_count(vault_waiters_t *w);

#endif
