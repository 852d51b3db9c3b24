/* SPDX-License-Identifier: Apache-2.0 */
/* The polls that wait in a child: they come, are woken, get their turn, and go.
 *
 * Lists: one an interest, found by its index. Deadlines: a heap (deadlines.h), which is also the list of all that wait. Turns: a
 * queue of woken polls, of which `window` at a time have been rung. Bells: waiters_wakeups.c.
 */
#include "wait/waiters_inside.h"

#include <poll.h>

#define SLEEP_MS 500

/* Whoever is woken for these is answered or called by name: it must not wait behind those that run. */
#define AT_ONCE (VAULT_CAUSE_STOP | VAULT_CAUSE_END | VAULT_CAUSE_RESUME | VAULT_CAUSE_COMPLETE)
#define BY_NAME (VAULT_CAUSE_RESUME | VAULT_CAUSE_COMPLETE)

enum { NONE, QUEUED, RUNNING };

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
    vault_wakeup_ring_locked(w, poll->bell);
}

void vault_waiters_wake_locked(vault_waiters_t *w, vault_poll_t *poll, unsigned cause)
{
    if (!poll->causes) {
        vault_count(w->counters, wakeups, 1);
    }
    poll->causes |= cause;
    if (cause & AT_ONCE) {
        vault_wakeup_ring_locked(w, poll->bell);
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

void vault_waiters_wake_all_locked(vault_waiters_t *w, unsigned cause)
{
    apr_size_t i;

    for (i = 0; i < w->deadlines.count; i++) {
        if (is_meant(w->deadlines.heap[i], cause)) {
            vault_waiters_wake_locked(w, w->deadlines.heap[i], cause);
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

apr_status_t vault_poll_begin(vault_waiters_t *w, vault_poll_t *poll)
{
    poll->bell = vault_wakeup_alloc(w);
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
            vault_waiters_wake_locked(w, poll, cause);
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
        vault_wakeup_free_locked(w, poll->bell);
        poll->bell = -1;
    }
    pthread_mutex_unlock(&w->lock);
}

void vault_poll_carry(vault_waiters_t *w, vault_poll_t *poll, int carried)
{
    pthread_mutex_lock(&w->lock);
    poll->carried = carried;
    (carried ? vault_wakeup_carry_locked : vault_wakeup_uncarry_locked)(w, poll->bell);
    pthread_mutex_unlock(&w->lock);
}

void vault_poll_lose_bell(vault_waiters_t *w, vault_poll_t *poll)
{
    pthread_mutex_lock(&w->lock);
    vault_wakeup_uncarry_locked(w, poll->bell);
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

int vault_waiters_nudge(vault_waiters_t *w)
{
    apr_size_t i;
    int found = 0;

    pthread_mutex_lock(&w->lock);
    for (i = 0; i < w->deadlines.count && !found; i++) {
        const vault_poll_t *poll = w->deadlines.heap[i];
        /* One that has been rung already is on its way to a thread, and one that writes would take the ring for a client that reads. */
        if (poll->carried && !poll->causes && !poll->writes) {
            vault_wakeup_ring_locked(w, poll->bell);
            found = 1;
        }
    }
    pthread_mutex_unlock(&w->lock);
    return found;
}
