/* SPDX-License-Identifier: Apache-2.0 */
/* The waiters of a child: created, stopped, freed. waiter.c has the single waiters, waiters_wakeups.c their
 * wakeups, and waiters_waker.c the thread that signals these. */
#include "wait/waiters_inside.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#define END_MS 1000

static apr_status_t start(vault_waiters_t *w, apr_pool_t *pool)
{
    if ((w->epoll = epoll_create1(EPOLL_CLOEXEC)) < 0 || (w->control = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) < 0 ||
        !(w->lists = calloc((apr_size_t)w->interests + 1, sizeof(*w->lists))) || pthread_mutex_init(&w->lock, NULL)) {
        return APR_FROM_OS_ERROR(errno);
    }
    return vault_waiters_start_waker(w, pool);
}

/* With the pool, when nothing can wait any more. If the waker thread did not end, all of it is kept. */
static apr_status_t free_all(void *baton)
{
    vault_waiters_t *w = baton;

    if (w->thread && !__atomic_load_n(&w->ended, __ATOMIC_SEQ_CST)) {
        return APR_SUCCESS;
    }
    close(w->epoll);
    close(w->control);
    vault_wakeups_destroy(w);
    free(w->deadlines.heap);
    free(w->lists);
    return APR_SUCCESS;
}

apr_status_t vault_waiters_create(vault_waiters_t **waiters, vault_notifier_t *notifier, unsigned slot, unsigned window,
                                  unsigned signal_limit, void (*tick)(void *baton), void *baton, apr_pool_t *pchild)
{
    vault_waiters_t *w = apr_pcalloc(pchild, sizeof(*w));

    w->notifier = notifier;
    w->counters = vault_slot_counters(notifier, slot);
    w->slot = slot;
    w->window = window ? window : 1;
    w->signal_limit = signal_limit ? signal_limit : 1;
    w->interests = vault_notifier_interests(notifier);
    w->tick = tick;
    w->baton = baton;
    w->queue.next = w->queue.prev = &w->queue;
    w->epoll = w->control = -1;
    w->deferred_first = w->deferred_last = -1;
    apr_pool_cleanup_register(pchild, w, free_all, apr_pool_cleanup_null);
    *waiters = w;
    return start(w, pchild);
}

void vault_waiters_stop(vault_waiters_t *w)
{
    __atomic_store_n(&w->stop, 1, __ATOMIC_SEQ_CST);
    signal_fd(w->control);
}

void vault_waiters_halt(vault_waiters_t *w)
{
    __atomic_store_n(&w->halt, 1, __ATOMIC_SEQ_CST);
}

int vault_waiters_stopping(const vault_waiters_t *w)
{
    return __atomic_load_n(&w->stop, __ATOMIC_SEQ_CST);
}

int vault_waiters_halted(const vault_waiters_t *w)
{
    return has_halted(w);
}

void vault_waiters_destroy(vault_waiters_t *w)
{
    apr_status_t rv;
    int ms;

    __atomic_store_n(&w->quit, 1, __ATOMIC_SEQ_CST);
    signal_fd(w->control);
    for (ms = 0; ms < END_MS && !__atomic_load_n(&w->ended, __ATOMIC_SEQ_CST); ms++) {
        apr_sleep(1000);
    }
    if (ms < END_MS) {
        apr_thread_join(&rv, w->thread);
    }
}
