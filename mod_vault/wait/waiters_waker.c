/* SPDX-License-Identifier: Apache-2.0 */
/* The waker: the one thread of a child that wakes those that wait.
 *
 * It is woken by the slot's eventfd (notifications from any child) and by its own control eventfd (stop, an
 * earlier deadline); a client's event carries the wakeup to signal and needs no look-up.
 */
#include "wait/waiters_inside.h"

#include <signal.h>
#include <sys/epoll.h>

#include "base/now.h"

#define EVENTS 256
#define TICK apr_time_from_sec(1)
#define HALTED_TICK apr_time_from_msec(100)

/* ------------------------------------------------------------------ clients */

apr_status_t vault_waiters_watch(vault_waiters_t *w, int fd, const vault_waiter_t *waiter, int talks)
{
    struct epoll_event e = {.events = EPOLLRDHUP | EPOLLONESHOT | (talks && !waiter->writes ? EPOLLIN : 0u) |
                                      (waiter->writes ? EPOLLOUT : 0u),
                            .data.fd = waiter->wakeup};

    return epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &e) ? APR_FROM_OS_ERROR(errno) : APR_SUCCESS;
}

void vault_waiters_unwatch(vault_waiters_t *w, int fd)
{
    epoll_ctl(w->epoll, EPOLL_CTL_DEL, fd, NULL);
}

/* ---------------------------------------------------------------- the waker */

static apr_interval_time_t period(const vault_waiters_t *w)
{
    return has_halted(w) ? HALTED_TICK : TICK;
}

void vault_waiters_on_wake(vault_waiters_t *w, void (*woken)(int all))
{
    __atomic_store_n(&w->woken, woken, __ATOMIC_RELEASE);
}

static void call_woken(vault_waiters_t *w, int all)
{
    void (*woken)(int) = __atomic_load_n(&w->woken, __ATOMIC_ACQUIRE);

    if (woken) {
        woken(all);
    }
}

static void drain_slot(vault_waiters_t *w)
{
    unsigned count, i;
    int all;
    vault_wait_t *wait;

    clear_fd(vault_slot_fd(w->notifier, w->slot));
    all = vault_slot_drain(w->notifier, w->slot, w->drained, VAULT_SLOT_QUEUE, &count);
    call_woken(w, all);
    pthread_mutex_lock(&w->lock);
    if (all) {
        vault_waiters_wake_all_locked(w, VAULT_CAUSE_NOTIFY);
    }
    for (i = 0; i < count && !all; i++) {
        for (wait = w->drained[i] <= w->interests ? w->lists[w->drained[i]] : NULL; wait; wait = wait->next) {
            vault_waiters_wake_locked(w, wait->waiter, VAULT_CAUSE_NOTIFY);
        }
    }
    pthread_mutex_unlock(&w->lock);
}

/* Wake what is due and say until when the waker may sleep. A woken waiter stays in the heap until its thread takes
 * it out, so it is moved behind the others by a later due time; its cause has been noted. */
static apr_time_t wake_due(vault_waiters_t *w, apr_time_t now)
{
    apr_time_t until = now + period(w);

    pthread_mutex_lock(&w->lock);
    if (__atomic_load_n(&w->stop, __ATOMIC_SEQ_CST) && !w->stopped) {
        w->stopped = 1;
        vault_waiters_wake_all_locked(w, VAULT_CAUSE_STOP);
    }
    while (w->deadlines.count && w->deadlines.heap[0]->due <= now) {
        vault_waiter_t *waiter = w->deadlines.heap[0];
        int ended = waiter->end <= now;
        vault_waiters_wake_locked(w, waiter, ended ? VAULT_CAUSE_END : VAULT_CAUSE_DUE);
        vault_deadlines_postpone(&w->deadlines, waiter, ended ? APR_INT64_MAX : waiter->end);
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

    pthread_mutex_lock(&w->lock);
    for (i = 0; i < n; i++) {
        if (events[i].data.fd == w->control) {
            clear_fd(w->control);
        }
        else if (events[i].data.fd != vault_slot_fd(w->notifier, w->slot) && !has_halted(w)) {
            vault_wakeup_signal_locked(w, events[i].data.fd);
        }
    }
    pthread_mutex_unlock(&w->lock);
}

static void tick(vault_waiters_t *w)
{
    vault_wakeups_check_stall(w);
    if (w->tick) {
        w->tick(w->baton);
    }
}

/* The queue is drained in every round, signalled or not: a process may have died between its entry and its signal. */
static void *APR_THREAD_FUNC waker(apr_thread_t *thread, void *baton)
{
    struct epoll_event events[EVENTS];
    vault_waiters_t *w = baton;
    apr_time_t now = vault_now(), until, ticked = now;
    int n;

    while (!__atomic_load_n(&w->quit, __ATOMIC_SEQ_CST)) {
        drain_slot(w);
        now = vault_now();
        until = wake_due(w, now);
        if (now - ticked >= period(w)) {
            ticked = now;
            tick(w);
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
static apr_status_t start_thread(vault_waiters_t *w, apr_pool_t *pool)
{
    sigset_t all, before;
    apr_status_t rv;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rv = apr_thread_create(&w->thread, NULL, waker, w, pool);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rv;
}

apr_status_t vault_waiters_start_waker(vault_waiters_t *w, apr_pool_t *pool)
{
    apr_status_t rv;

    if ((rv = watch_forever(w, w->control)) != APR_SUCCESS ||
        (rv = watch_forever(w, vault_slot_fd(w->notifier, w->slot))) != APR_SUCCESS) {
        return rv;
    }
    return start_thread(w, pool);
}
