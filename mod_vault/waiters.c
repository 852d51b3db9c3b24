/* SPDX-License-Identifier: Apache-2.0 */
/* The waiting polls of one child.
 *
 * Lists: one an interest, found by its index. Deadlines: a heap (deadlines.h), which is also the list of all that wait. Turns: a
 * queue of woken polls, of which `window` at a time have been rung. Bells: eventfds in a free list, never closed while the child
 * lives, so that a late ring reaches at worst another poll, which takes it for an extraneous one.
 *
 * The waker is woken by the slot's eventfd (notifications from any child) and by its own control eventfd (stop, an earlier
 * deadline); a client's event carries the bell to ring and needs no look-up.
 */
#include "waiters.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "apr_thread_proc.h"

#include "deadlines.h"
#include "now.h"

#define EVENTS 256
#define TICK apr_time_from_sec(1)
#define SLEEP_MS 500
#define END_MS 1000

/* Whoever is woken for these is answered or called by name: it must not wait behind those that run. */
#define AT_ONCE (VAULT_CAUSE_STOP | VAULT_CAUSE_END | VAULT_CAUSE_RESUME | VAULT_CAUSE_COMPLETE)
#define BY_NAME (VAULT_CAUSE_RESUME | VAULT_CAUSE_COMPLETE)

enum { NONE, QUEUED, RUNNING };

struct vault_waiters_t {
    vault_notifier_t *notifier;           /* const */
    vault_counters_t *counters;           /* const */
    unsigned slot;                        /* const */
    unsigned window;                      /* const */
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
    int *bells;                  /* lock; free ones */
    apr_size_t free_bells, bell_room;
    vault_interest_t drained[VAULT_SLOT_QUEUE]; /* waker thread */
};

static void ring(int fd)
{
    apr_uint64_t one = 1;

    while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR) {
    }
}

static void silence(int fd)
{
    apr_uint64_t n;

    while (read(fd, &n, sizeof(n)) < 0 && errno == EINTR) {
    }
}

static int has_halted(const vault_waiters_t *w)
{
    return __atomic_load_n(&w->halt, __ATOMIC_SEQ_CST);
}

/* In a process that ends at once nobody comes for a bell that is carried. What rings before we are told of the end, and after the MPM has
 * closed the sockets that its threads have in hand, is not caught: some microseconds, in which another thread would have to open a file. */
static void ring_poll(const vault_waiters_t *w, const vault_poll_t *poll)
{
    if (!__atomic_load_n(&poll->carried, __ATOMIC_SEQ_CST) || !has_halted(w)) {
        ring(poll->bell);
    }
}

/* -------------------------------------------------------------------- turns */

static void enqueue(vault_waiters_t *w, vault_poll_t *poll)
{
    poll->turn = QUEUED;
    poll->prev = w->queue.prev;
    poll->next = &w->queue;
    w->queue.prev->next = poll;
    w->queue.prev = poll;
}

static void dequeue(vault_poll_t *poll)
{
    poll->next->prev = poll->prev;
    poll->prev->next = poll->next;
    poll->turn = NONE;
}

static void give_turn(vault_waiters_t *w, vault_poll_t *poll)
{
    poll->turn = RUNNING;
    w->running++;
    ring_poll(w, poll);
}

static void wake_locked(vault_waiters_t *w, vault_poll_t *poll, unsigned cause)
{
    if (!poll->causes) {
        vault_count(w->counters, wakeups, 1);
    }
    poll->causes |= cause;
    if (cause & AT_ONCE) {
        ring_poll(w, poll);
        return;
    }
    if (poll->turn != NONE) {
        return;
    }
    if (w->running < w->window) {
        give_turn(w, poll);
    }
    else {
        enqueue(w, poll);
    }
}

/* Those that wait for no interest are not meant by a notify of all, nor by a stop those that outlast it. */
static int is_meant(const vault_poll_t *poll, unsigned cause)
{
    return cause == VAULT_CAUSE_STOP ? !poll->outlasts : poll->count > 0;
}

static void wake_all_locked(vault_waiters_t *w, unsigned cause)
{
    apr_size_t i;

    for (i = 0; i < w->deadlines.count; i++) {
        if (is_meant(w->deadlines.heap[i], cause)) {
            wake_locked(w, w->deadlines.heap[i], cause);
        }
    }
}

void vault_poll_finish(vault_waiters_t *w, vault_poll_t *poll)
{
    pthread_mutex_lock(&w->lock);
    if (poll->turn == RUNNING) {
        poll->turn = NONE;
        w->running--;
        if (poll->attached && poll->causes) {
            enqueue(w, poll); /* what came while it had its turn did not ring */
        }
        if (w->queue.next != &w->queue) {
            vault_poll_t *next = w->queue.next;
            dequeue(next);
            give_turn(w, next);
        }
    }
    if (poll->attached && !poll->counted) {
        poll->counted = 1;
        vault_count(w->counters, waiting, 1);
    }
    pthread_mutex_unlock(&w->lock);
}

/* -------------------------------------------------------------------- polls */

static int take_bell(vault_waiters_t *w)
{
    int fd = -1;

    pthread_mutex_lock(&w->lock);
    if (w->free_bells) {
        fd = w->bells[--w->free_bells];
    }
    pthread_mutex_unlock(&w->lock);
    if (fd >= 0) {
        silence(fd);
        return fd;
    }
    return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

static void give_bell_locked(vault_waiters_t *w, int fd)
{
    if (w->free_bells == w->bell_room) {
        apr_size_t room = w->bell_room ? w->bell_room * 2 : 64;
        int *bells = realloc(w->bells, room * sizeof(*bells));
        if (!bells) {
            return; /* the descriptor is lost; closing it could let a late ring write into somebody's file */
        }
        w->bells = bells;
        w->bell_room = room;
    }
    w->bells[w->free_bells++] = fd;
}

apr_status_t vault_poll_begin(vault_waiters_t *w, vault_poll_t *poll)
{
    poll->bell = take_bell(w);
    return poll->bell < 0 ? APR_FROM_OS_ERROR(errno) : APR_SUCCESS;
}

/* An index comes from shared memory; one that cannot be waits in the list of nobody. */
static void link_wait(vault_waiters_t *w, vault_poll_t *poll, vault_wait_t *wait)
{
    vault_wait_t **head = &w->lists[wait->interest <= w->interests ? wait->interest : 0];

    wait->poll = poll;
    wait->next = *head;
    wait->link = head;
    if (*head) {
        (*head)->link = &wait->next;
    }
    *head = wait;
}

static void unlink_wait(vault_wait_t *wait)
{
    *wait->link = wait->next;
    if (wait->next) {
        wait->next->link = wait->link;
    }
}

static int may_attach(const vault_waiters_t *w, const vault_poll_t *poll)
{
    return poll->outlasts || (!w->stopped && !__atomic_load_n(&w->stop, __ATOMIC_SEQ_CST));
}

int vault_poll_attach(vault_waiters_t *w, vault_poll_t *poll, vault_wait_t *waits, unsigned count)
{
    int attached = 0, earlier = 0;
    unsigned i;

    pthread_mutex_lock(&w->lock);
    if (may_attach(w, poll) && vault_deadlines_insert(&w->deadlines, poll)) {
        poll->waits = waits;
        poll->count = count;
        poll->attached = attached = 1;
        for (i = 0; i < count; i++) {
            link_wait(w, poll, &waits[i]);
        }
        earlier = poll->due < w->wakes_at;
    }
    pthread_mutex_unlock(&w->lock);
    if (earlier) {
        ring(w->control);
    }
    return attached;
}

/* The caller holds the lock. */
static int detach_locked(vault_waiters_t *w, vault_poll_t *poll)
{
    unsigned i;

    if (!poll->attached) {
        return 0;
    }
    for (i = 0; i < poll->count; i++) {
        unlink_wait(&poll->waits[i]);
    }
    vault_deadlines_remove(&w->deadlines, poll);
    if (poll->turn == QUEUED) {
        dequeue(poll);
    }
    poll->attached = 0;
    if (poll->counted) {
        poll->counted = 0;
        vault_count(w->counters, waiting, -1);
    }
    return 1;
}

unsigned vault_poll_detach(vault_waiters_t *w, vault_poll_t *poll)
{
    unsigned causes;
    int was;

    pthread_mutex_lock(&w->lock);
    was = detach_locked(w, poll);
    causes = poll->causes;
    poll->causes = 0;
    pthread_mutex_unlock(&w->lock);
    if (was) {
        silence(poll->bell);
    }
    return causes;
}

unsigned vault_poll_take(vault_waiters_t *w, vault_poll_t *poll)
{
    unsigned causes;

    pthread_mutex_lock(&w->lock);
    causes = poll->causes;
    if (!causes && poll->bell >= 0) {
        silence(poll->bell); /* under the lock: a cause that comes next rings after it */
    }
    pthread_mutex_unlock(&w->lock);
    return causes ? vault_poll_detach(w, poll) : 0;
}

unsigned vault_poll_wake(vault_waiters_t *w, vault_poll_t *poll, unsigned cause)
{
    unsigned causes = 0;

    pthread_mutex_lock(&w->lock);
    if (poll->attached) {
        if (!(poll->causes & BY_NAME)) {
            wake_locked(w, poll, cause);
        }
        causes = poll->causes;
    }
    pthread_mutex_unlock(&w->lock);
    return causes;
}

void vault_poll_shorten(vault_waiters_t *w, vault_poll_t *poll, apr_time_t end)
{
    int earlier = 0;

    pthread_mutex_lock(&w->lock);
    if (poll->attached && end < poll->end) {
        poll->end = end;
        if (end < poll->due) {
            vault_deadlines_advance(&w->deadlines, poll, end);
            earlier = end < w->wakes_at;
        }
    }
    pthread_mutex_unlock(&w->lock);
    if (earlier) {
        ring(w->control);
    }
}

void vault_poll_end(vault_waiters_t *w, vault_poll_t *poll)
{
    vault_poll_detach(w, poll);
    vault_poll_finish(w, poll);
    pthread_mutex_lock(&w->lock);
    if (poll->bell >= 0) {
        give_bell_locked(w, poll->bell);
        poll->bell = -1;
    }
    pthread_mutex_unlock(&w->lock);
}

void vault_poll_carry(vault_poll_t *poll, int carried)
{
    __atomic_store_n(&poll->carried, carried, __ATOMIC_SEQ_CST);
}

void vault_poll_lose_bell(vault_waiters_t *w, vault_poll_t *poll)
{
    pthread_mutex_lock(&w->lock);
    poll->bell = -1;
    pthread_mutex_unlock(&w->lock);
}

void vault_poll_sleep(const vault_poll_t *sleeper, int fd, int talks)
{
    short events = (short)(POLLRDHUP | (talks && !sleeper->writes ? POLLIN : 0) | (sleeper->writes ? POLLOUT : 0));
    struct pollfd fds[2] = {{.fd = sleeper->bell, .events = POLLIN}, {.fd = fd, .events = events}};
    int n, ms = sleeper->writes ? sleeper->writes : SLEEP_MS;

    do {
        n = poll(fds, fd < 0 ? 1 : 2, fd < 0 ? ms : -1);
    } while (n < 0 && errno == EINTR);
}

vault_poll_t *vault_waiters_pop(vault_waiters_t *w)
{
    vault_poll_t *poll = NULL;

    pthread_mutex_lock(&w->lock);
    if (w->deadlines.count) {
        poll = w->deadlines.heap[0];
        detach_locked(w, poll);
    }
    pthread_mutex_unlock(&w->lock);
    return poll;
}

unsigned vault_waiters_count(vault_waiters_t *w)
{
    unsigned count;

    pthread_mutex_lock(&w->lock);
    count = (unsigned)w->deadlines.count;
    pthread_mutex_unlock(&w->lock);
    return count;
}

/* ------------------------------------------------------------------ clients */

apr_status_t vault_waiters_watch(vault_waiters_t *w, int fd, const vault_poll_t *poll, int talks)
{
    struct epoll_event e = {.events = EPOLLRDHUP | EPOLLONESHOT | (talks && !poll->writes ? EPOLLIN : 0u) |
                                      (poll->writes ? EPOLLOUT : 0u),
                            .data.fd = poll->bell};

    return epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &e) ? APR_FROM_OS_ERROR(errno) : APR_SUCCESS;
}

void vault_waiters_unwatch(vault_waiters_t *w, int fd)
{
    epoll_ctl(w->epoll, EPOLL_CTL_DEL, fd, NULL);
}

/* ---------------------------------------------------------------- the waker */

void vault_waiters_on_pass(vault_waiters_t *w, void (*let_in)(void *baton, apr_uint32_t pass), void *baton)
{
    w->let_in_baton = baton;
    __atomic_store_n(&w->let_in, let_in, __ATOMIC_RELEASE);
}

static void tell_passes(vault_waiters_t *w, int all, unsigned count)
{
    void (*let_in)(void *, apr_uint32_t) = __atomic_load_n(&w->let_in, __ATOMIC_ACQUIRE);
    unsigned i;

    if (!let_in) {
        return;
    }
    if (all) {
        let_in(w->let_in_baton, 0);
    }
    for (i = 0; i < count; i++) {
        if (w->drained[i] & VAULT_SLOT_PASS) {
            let_in(w->let_in_baton, w->drained[i] & ~VAULT_SLOT_PASS);
        }
    }
}

static void drain_slot(vault_waiters_t *w)
{
    unsigned count, i;
    int all;
    vault_wait_t *wait;

    silence(vault_slot_fd(w->notifier, w->slot));
    all = vault_slot_drain(w->notifier, w->slot, w->drained, VAULT_SLOT_QUEUE, &count);
    tell_passes(w, all, count);
    pthread_mutex_lock(&w->lock);
    if (all) {
        wake_all_locked(w, VAULT_CAUSE_NOTIFY);
    }
    for (i = 0; i < count && !all; i++) {
        for (wait = w->drained[i] <= w->interests ? w->lists[w->drained[i]] : NULL; wait; wait = wait->next) {
            wake_locked(w, wait->poll, VAULT_CAUSE_NOTIFY);
        }
    }
    pthread_mutex_unlock(&w->lock);
}

/* Wake what is due and say until when the waker may sleep. A woken poll stays in the heap until its thread takes it out, so it is
 * moved behind the others by a later due time; its cause has been left. */
static apr_time_t wake_due(vault_waiters_t *w, apr_time_t now)
{
    apr_time_t until = now + TICK;

    pthread_mutex_lock(&w->lock);
    if (__atomic_load_n(&w->stop, __ATOMIC_SEQ_CST) && !w->stopped) {
        w->stopped = 1;
        wake_all_locked(w, VAULT_CAUSE_STOP);
    }
    while (w->deadlines.count && w->deadlines.heap[0]->due <= now) {
        vault_poll_t *poll = w->deadlines.heap[0];
        int ended = poll->end <= now;
        wake_locked(w, poll, ended ? VAULT_CAUSE_END : VAULT_CAUSE_DUE);
        vault_deadlines_postpone(&w->deadlines, poll, ended ? APR_INT64_MAX : poll->end);
    }
    if (w->deadlines.count && w->deadlines.heap[0]->due < until) {
        until = w->deadlines.heap[0]->due;
    }
    w->wakes_at = until;
    pthread_mutex_unlock(&w->lock);
    return until;
}

static void handle_events(vault_waiters_t *w, const struct epoll_event *events, int n)
{
    int i;

    for (i = 0; i < n; i++) {
        if (events[i].data.fd == w->control) {
            silence(w->control);
        }
        else if (events[i].data.fd != vault_slot_fd(w->notifier, w->slot) && !has_halted(w)) {
            ring(events[i].data.fd);
        }
    }
}

/* The queue is drained at every turn, rung or not: a ring may have died with its ringer. */
static void *APR_THREAD_FUNC waker(apr_thread_t *thread, void *baton)
{
    struct epoll_event events[EVENTS];
    vault_waiters_t *w = baton;
    apr_time_t now = vault_now(), until, next_tick = now + TICK;
    int n;

    while (!__atomic_load_n(&w->quit, __ATOMIC_SEQ_CST)) {
        drain_slot(w);
        now = vault_now();
        until = wake_due(w, now);
        if (now >= next_tick) {
            next_tick = now + TICK;
            if (w->tick) {
                w->tick(w->baton);
            }
        }
        n = epoll_wait(w->epoll, events, EVENTS, until > now ? (int)apr_time_as_msec(until - now) + 1 : 0);
        handle_events(w, events, n);
    }
    __atomic_store_n(&w->ended, 1, __ATOMIC_SEQ_CST);
    return NULL; /* not apr_thread_exit(): it leaves this frame behind on the stack */
}

static apr_status_t watch_forever(vault_waiters_t *w, int fd)
{
    struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

    return epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &e) ? APR_FROM_OS_ERROR(errno) : APR_SUCCESS;
}

/* Signals are for httpd's own threads. */
static apr_status_t start_waker(vault_waiters_t *w, apr_pool_t *pool)
{
    sigset_t all, before;
    apr_status_t rv;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rv = apr_thread_create(&w->thread, NULL, waker, w, pool);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rv;
}

static apr_status_t start(vault_waiters_t *w, apr_pool_t *pool)
{
    apr_status_t rv;

    if ((w->epoll = epoll_create1(EPOLL_CLOEXEC)) < 0 || (w->control = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) < 0 ||
        !(w->lists = calloc((apr_size_t)w->interests + 1, sizeof(*w->lists))) || pthread_mutex_init(&w->lock, NULL)) {
        return APR_FROM_OS_ERROR(errno);
    }
    if ((rv = watch_forever(w, w->control)) != APR_SUCCESS ||
        (rv = watch_forever(w, vault_slot_fd(w->notifier, w->slot))) != APR_SUCCESS) {
        return rv;
    }
    return start_waker(w, pool);
}

/* With the pool, when nobody can wait any more. A waker that did not end keeps all of it. */
static apr_status_t free_all(void *baton)
{
    vault_waiters_t *w = baton;

    if (w->thread && !__atomic_load_n(&w->ended, __ATOMIC_SEQ_CST)) {
        return APR_SUCCESS;
    }
    while (w->free_bells) {
        close(w->bells[--w->free_bells]);
    }
    close(w->epoll);
    close(w->control);
    free(w->bells);
    free(w->deadlines.heap);
    free(w->lists);
    return APR_SUCCESS;
}

apr_status_t vault_waiters_create(vault_waiters_t **waiters, vault_notifier_t *notifier, unsigned slot, unsigned window,
                                  void (*tick)(void *baton), void *baton, apr_pool_t *pchild)
{
    vault_waiters_t *w = apr_pcalloc(pchild, sizeof(*w));

    w->notifier = notifier;
    w->counters = vault_slot_counters(notifier, slot);
    w->slot = slot;
    w->window = window ? window : 1;
    w->interests = vault_notifier_interests(notifier);
    w->tick = tick;
    w->baton = baton;
    w->queue.next = w->queue.prev = &w->queue;
    w->epoll = w->control = -1;
    apr_pool_cleanup_register(pchild, w, free_all, apr_pool_cleanup_null);
    *waiters = w;
    return start(w, pchild);
}

void vault_waiters_stop(vault_waiters_t *w)
{
    __atomic_store_n(&w->stop, 1, __ATOMIC_SEQ_CST);
    ring(w->control);
}

void vault_waiters_halt(vault_waiters_t *w)
{
    __atomic_store_n(&w->halt, 1, __ATOMIC_SEQ_CST);
}

int vault_waiters_nudge(vault_waiters_t *w)
{
    apr_size_t i;
    int found = 0;

    pthread_mutex_lock(&w->lock);
    for (i = 0; i < w->deadlines.count && !found; i++) {
        const vault_poll_t *poll = w->deadlines.heap[i];
        /* One that has been rung already is on its way to a thread. */
        if (__atomic_load_n(&poll->carried, __ATOMIC_SEQ_CST) && !poll->causes) {
            ring_poll(w, poll);
            found = 1;
        }
    }
    pthread_mutex_unlock(&w->lock);
    return found;
}

int vault_waiters_stopping(const vault_waiters_t *w)
{
    return __atomic_load_n(&w->stop, __ATOMIC_SEQ_CST);
}

void vault_waiters_destroy(vault_waiters_t *w)
{
    apr_status_t rv;
    int ms;

    __atomic_store_n(&w->quit, 1, __ATOMIC_SEQ_CST);
    ring(w->control);
    for (ms = 0; ms < END_MS && !__atomic_load_n(&w->ended, __ATOMIC_SEQ_CST); ms++) {
        apr_sleep(1000);
    }
    if (ms < END_MS) {
        apr_thread_join(&rv, w->thread);
    }
}
