/* SPDX-License-Identifier: Apache-2.0 */
/* The waiters of a child, one by one: each is attached, woken, given its turn, and detached.
 *
 * Lists: one an interest, found by its index. Deadlines: a heap (deadlines.h), which is also the list of all that
 * are suspended. Turns: a queue of woken waiters, of which `window` at a time have been signalled. Wakeups:
 * waiters_wakeups.c.
 */
#include "wait/waiters_inside.h"

#include <poll.h>

#define SLEEP_MS 500

/* A waiter that is woken for these is only answered, or was called by name: it must not wait behind those that run. */
#define AT_ONCE (VAULT_CAUSE_STOP | VAULT_CAUSE_END | VAULT_CAUSE_RESUME | VAULT_CAUSE_COMPLETE)
#define BY_NAME (VAULT_CAUSE_RESUME | VAULT_CAUSE_COMPLETE)

enum { NONE, QUEUED, RUNNING };

/* -------------------------------------------------------------------- turns */

static void enqueue(vault_waiters_t *w, vault_waiter_t *waiter)
{
    waiter->turn = QUEUED;
    waiter->prev = w->queue.prev;
    waiter->next = &w->queue;
    w->queue.prev->next = waiter;
    w->queue.prev = waiter;
}

static void dequeue(vault_waiter_t *waiter)
{
    waiter->next->prev = waiter->prev;
    waiter->prev->next = waiter->next;
    waiter->turn = NONE;
}

static void give_turn(vault_waiters_t *w, vault_waiter_t *waiter)
{
    waiter->turn = RUNNING;
    w->running++;
    vault_wakeup_signal_locked(w, waiter->wakeup);
}

void vault_waiters_wake_locked(vault_waiters_t *w, vault_waiter_t *waiter, unsigned cause)
{
    vault_wait_action_t action = vault_wait_step(&waiter->state, VAULT_ON_WAKE);

    if (action == VAULT_DO_NOTHING) {
        return;
    }
    if (action == VAULT_DO_SIGNAL) {
        vault_count(w->counters, wakeups, 1);
    }
    waiter->causes |= cause;
    if (cause & AT_ONCE) {
        vault_wakeup_signal_locked(w, waiter->wakeup);
        return;
    }
    if (waiter->turn != NONE) {
        return;
    }
    if (w->running < w->window) {
        give_turn(w, waiter);
    }
    else {
        enqueue(w, waiter);
    }
}

/* A notify of all is not for waiters without an interest, and a stop is not for those that outlast it. */
static int is_meant(const vault_waiter_t *waiter, unsigned cause)
{
    return cause == VAULT_CAUSE_STOP ? !waiter->outlasts : waiter->count > 0;
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

static int is_suspended(const vault_waiter_t *waiter)
{
    return vault_wait_is_suspended(vault_wait_state(&waiter->state));
}

static void count(vault_waiters_t *w, vault_waiter_t *waiter, int counted)
{
    waiter->counted = counted;
    vault_count(w->counters, waiting, counted ? 1 : -1);
    if (waiter->in_thread) {
        vault_count(w->counters, threads, counted ? 1 : -1);
    }
}

void vault_waiter_finish(vault_waiters_t *w, vault_waiter_t *waiter)
{
    pthread_mutex_lock(&w->lock);
    if (waiter->turn == RUNNING) {
        waiter->turn = NONE;
        w->running--;
        if (vault_wait_is_woken(vault_wait_state(&waiter->state))) {
            enqueue(w, waiter); /* what came while it had its turn has not signalled it */
        }
        if (w->queue.next != &w->queue) {
            vault_waiter_t *next = w->queue.next;
            dequeue(next);
            give_turn(w, next);
        }
    }
    if (is_suspended(waiter) && !waiter->counted) {
        count(w, waiter, 1);
    }
    pthread_mutex_unlock(&w->lock);
}

/* ------------------------------------------------------------------ waiters */

apr_status_t vault_waiter_open(vault_waiters_t *w, vault_waiter_t *waiter)
{
    waiter->wakeup = vault_wakeup_alloc(w);
    return waiter->wakeup < 0 ? APR_FROM_OS_ERROR(errno) : APR_SUCCESS;
}

/* The index comes from shared memory. An impossible one goes to list 0, which no notification wakes. */
static void link_wait(vault_waiters_t *w, vault_waiter_t *waiter, vault_wait_t *wait)
{
    vault_wait_t **head = &w->lists[wait->interest <= w->interests ? wait->interest : 0];

    wait->waiter = waiter;
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

static int may_attach(const vault_waiters_t *w, const vault_waiter_t *waiter)
{
    return waiter->outlasts || (!w->stopped && !__atomic_load_n(&w->stop, __ATOMIC_SEQ_CST));
}

static void link_locked(vault_waiters_t *w, vault_waiter_t *waiter, vault_wait_t *waits, unsigned count)
{
    unsigned i;

    waiter->waits = waits;
    waiter->count = count;
    waiter->causes = 0;
    for (i = 0; i < count; i++) {
        link_wait(w, waiter, &waits[i]);
    }
}

static void unlink_locked(vault_waiters_t *w, vault_waiter_t *waiter)
{
    unsigned i;

    for (i = 0; i < waiter->count; i++) {
        unlink_wait(&waiter->waits[i]);
    }
    vault_deadlines_remove(&w->deadlines, waiter);
    if (waiter->turn == QUEUED) {
        dequeue(waiter);
    }
    if (waiter->counted) {
        count(w, waiter, 0);
    }
}

/* The state and the lists change together, under the lock: a waiter is in the lists in the suspended states, and
 * only in these. */
int vault_waiter_attach(vault_waiters_t *w, vault_waiter_t *waiter, vault_wait_t *waits, unsigned count)
{
    int attached = 0, earlier = 0;

    pthread_mutex_lock(&w->lock);
    if (vault_wait_state(&waiter->state) == VAULT_WAIT_RUNNING && may_attach(w, waiter) &&
        vault_deadlines_insert(&w->deadlines, waiter)) {
        vault_wait_step(&waiter->state, VAULT_ON_SUSPEND);
        link_locked(w, waiter, waits, count);
        attached = 1;
        earlier = waiter->due < w->wakes_at;
    }
    pthread_mutex_unlock(&w->lock);
    if (earlier) {
        signal_fd(w->control);
    }
    return attached;
}

vault_wait_action_t vault_waiter_step(vault_waiters_t *w, vault_waiter_t *waiter, vault_wait_event_t event)
{
    vault_wait_action_t action;
    int left;

    pthread_mutex_lock(&w->lock);
    left = is_suspended(waiter);
    action = vault_wait_step(&waiter->state, event);
    left = left && !is_suspended(waiter);
    if (left) {
        unlink_locked(w, waiter);
    }
    if (action == VAULT_DO_KEEP && waiter->wakeup >= 0) {
        clear_fd(waiter->wakeup); /* under the lock: a cause that comes next signals it after this */
    }
    pthread_mutex_unlock(&w->lock);
    if (left) {
        clear_fd(waiter->wakeup);
    }
    return action;
}

unsigned vault_waiter_detach(vault_waiters_t *w, vault_waiter_t *waiter)
{
    return vault_waiter_step(w, waiter, VAULT_ON_REVOKE) == VAULT_DO_DETACH ? waiter->causes : 0;
}

unsigned vault_waiter_wake(vault_waiters_t *w, vault_waiter_t *waiter, unsigned cause)
{
    unsigned causes = 0;

    pthread_mutex_lock(&w->lock);
    if (is_suspended(waiter)) {
        if (!(waiter->causes & BY_NAME)) {
            vault_waiters_wake_locked(w, waiter, cause);
        }
        causes = waiter->causes;
    }
    pthread_mutex_unlock(&w->lock);
    return causes;
}

void vault_waiter_shorten(vault_waiters_t *w, vault_waiter_t *waiter, apr_time_t end)
{
    int earlier = 0;

    pthread_mutex_lock(&w->lock);
    if (is_suspended(waiter) && vault_wait_step(&waiter->state, VAULT_ON_SUSPEND) == VAULT_DO_SHORTEN &&
        end < waiter->end) {
        waiter->end = end;
        if (end < waiter->due) {
            vault_deadlines_advance(&w->deadlines, waiter, end);
            earlier = end < w->wakes_at;
        }
    }
    pthread_mutex_unlock(&w->lock);
    if (earlier) {
        signal_fd(w->control);
    }
}

void vault_waiter_close(vault_waiters_t *w, vault_waiter_t *waiter)
{
    vault_waiter_detach(w, waiter);
    if (is_suspended(waiter)) {
        vault_waiter_step(w, waiter, VAULT_ON_END);
    }
    vault_waiter_finish(w, waiter);
    pthread_mutex_lock(&w->lock);
    if (waiter->wakeup >= 0) {
        vault_wakeup_free_locked(w, waiter->wakeup);
        waiter->wakeup = -1;
    }
    pthread_mutex_unlock(&w->lock);
}

void vault_waiter_carry(vault_waiters_t *w, const vault_waiter_t *waiter, int carried)
{
    pthread_mutex_lock(&w->lock);
    (carried ? vault_wakeup_carry_locked : vault_wakeup_uncarry_locked)(w, waiter->wakeup);
    pthread_mutex_unlock(&w->lock);
}

void vault_waiter_lose_wakeup(vault_waiters_t *w, vault_waiter_t *waiter)
{
    pthread_mutex_lock(&w->lock);
    vault_wakeup_uncarry_locked(w, waiter->wakeup);
    waiter->wakeup = -1;
    pthread_mutex_unlock(&w->lock);
}

void vault_waiter_sleep(const vault_waiter_t *sleeper, int fd, int talks)
{
    short events = (short)(POLLRDHUP | (talks && !sleeper->writes ? POLLIN : 0) | (sleeper->writes ? POLLOUT : 0));
    struct pollfd fds[2] = {{.fd = sleeper->wakeup, .events = POLLIN}, {.fd = fd, .events = events}};
    int n, ms = sleeper->writes ? sleeper->writes : SLEEP_MS;

    do {
        n = poll(fds, fd < 0 ? 1 : 2, fd < 0 ? ms : -1);
    } while (n < 0 && errno == EINTR);
}

vault_waiter_t *vault_waiters_any(vault_waiters_t *w)
{
    vault_waiter_t *waiter;

    pthread_mutex_lock(&w->lock);
    waiter = w->deadlines.count ? w->deadlines.heap[0] : NULL;
    pthread_mutex_unlock(&w->lock);
    return waiter;
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
        const vault_waiter_t *waiter = w->deadlines.heap[i];
        /* One that has been woken is on its way to a thread, and one that writes would take the signal for a
         * client that reads. */
        if (!vault_wait_is_woken(vault_wait_state(&waiter->state)) && !waiter->writes &&
            vault_wakeup_is_quiet_locked(w, waiter->wakeup)) {
            vault_wakeup_signal_locked(w, waiter->wakeup);
            found = 1;
        }
    }
    pthread_mutex_unlock(&w->lock);
    return found;
}
