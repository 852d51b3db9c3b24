/* SPDX-License-Identifier: Apache-2.0 */
/* The wakeups of waiters, and a limit on how many of them are signalled at a time.
 *
 * A wakeup is an eventfd that wakes one waiter. The module never closes it while the child lives. So a late write
 * to it can only wake another waiter for nothing.
 *
 * While a connection carries a wakeup, the MPM polls for it. The listener of httpd 2.4.71's event MPM takes all
 * connections that are ready in one go, and it waits for an idle thread for each of them. Until each connection has a
 * thread, the listener does nothing else: it accepts no connection. A child that must end at once waits for the
 * listener too, for more than five seconds if its threads have ended meanwhile. If a graceful restart finds the
 * listener waiting, the listener pushes one connection more than its queue holds, and the child crashes.
 *
 * Therefore at most `signal_limit` of the carried wakeups are signalled at a time. The module defers the others,
 * in order of arrival, until a thread has collected one.
 */
#include "wait/waiters_inside.h"

#include <stdlib.h>
#include <sys/eventfd.h>

/* ------------------------------------------------------------------ eventfds */

static vault_wakeup_t *find(const vault_waiters_t *w, int fd)
{
    return fd >= 0 && fd < w->wakeups_end ? &w->wakeups[fd] : NULL;
}

/* If there is no memory for its entry, the wakeup is signalled at once and does not count. */
static void make_entry(vault_waiters_t *w, int fd)
{
    int end = fd < 32 ? 64 : fd * 2;
    vault_wakeup_t *wakeups;

    if (fd < w->wakeups_end || !(wakeups = realloc(w->wakeups, (apr_size_t)end * sizeof(*wakeups)))) {
        return;
    }
    memset(wakeups + w->wakeups_end, 0, (apr_size_t)(end - w->wakeups_end) * sizeof(*wakeups));
    w->wakeups = wakeups;
    w->wakeups_end = end;
}

int vault_wakeup_alloc(vault_waiters_t *w)
{
    int fd = -1;

    pthread_mutex_lock(&w->lock);
    if (w->free_count) {
        fd = w->free[--w->free_count];
        clear_fd(fd);
    }
    else if ((fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) >= 0) {
        make_entry(w, fd);
    }
    pthread_mutex_unlock(&w->lock);
    return fd;
}

void vault_wakeup_free_locked(vault_waiters_t *w, int fd)
{
    vault_wakeup_uncarry_locked(w, fd);
    if (w->free_count == w->free_room) {
        apr_size_t room = w->free_room ? w->free_room * 2 : 64;
        int *fds = realloc(w->free, room * sizeof(*fds));
        if (!fds) {
            return; /* the descriptor is lost; closing it could let a late ring write into another file */
        }
        w->free = fds;
        w->free_room = room;
    }
    w->free[w->free_count++] = fd;
}

void vault_wakeups_destroy(vault_waiters_t *w)
{
    while (w->free_count) {
        close(w->free[--w->free_count]);
    }
    free(w->free);
    free(w->wakeups);
}

/* ----------------------------------------------------------------- signalling */

static void defer(vault_waiters_t *w, int fd)
{
    vault_wakeup_t *b = find(w, fd), *last = find(w, w->deferred_last);

    b->state = VAULT_WAKEUP_DEFERRED;
    b->prev = w->deferred_last;
    b->next = -1;
    *(last ? &last->next : &w->deferred_first) = fd;
    w->deferred_last = fd;
}

static void undefer(vault_waiters_t *w, int fd)
{
    const vault_wakeup_t *b = find(w, fd);
    vault_wakeup_t *next = find(w, b->next), *prev = find(w, b->prev);

    *(prev ? &prev->next : &w->deferred_first) = b->next;
    *(next ? &next->prev : &w->deferred_last) = b->prev;
}

/* In a process that ends at once no thread collects a carried wakeup, so nothing is written to it. One race
 * remains: the MPM has closed the sockets of its threads, and mod_vault has not learned of the end yet. It lasts
 * some microseconds, and does harm only if another thread opens a file with the same descriptor meanwhile. */
static void signal_carried(vault_waiters_t *w, int fd)
{
    find(w, fd)->state = VAULT_WAKEUP_SIGNALLED;
    w->signalled++;
    if (!has_halted(w)) {
        signal_fd(fd);
    }
}

static void signal_deferred(vault_waiters_t *w)
{
    int fd;

    while (w->signalled < w->signal_limit && (fd = w->deferred_first) >= 0) {
        undefer(w, fd);
        signal_carried(w, fd);
    }
}

void vault_wakeup_signal_locked(vault_waiters_t *w, int fd)
{
    const vault_wakeup_t *b = find(w, fd);

    if (!b || b->state == VAULT_WAKEUP_UNCARRIED) {
        signal_fd(fd);
    }
    else if (b->state == VAULT_WAKEUP_CARRIED && w->signalled < w->signal_limit) {
        signal_carried(w, fd);
    }
    else if (b->state == VAULT_WAKEUP_CARRIED) {
        defer(w, fd);
    }
}

int vault_wakeup_is_quiet_locked(const vault_waiters_t *w, int fd)
{
    const vault_wakeup_t *b = find(w, fd);

    return b && b->state == VAULT_WAKEUP_CARRIED;
}

void vault_wakeup_carry_locked(vault_waiters_t *w, int fd)
{
    vault_wakeup_t *b = find(w, fd);

    if (b && b->state == VAULT_WAKEUP_UNCARRIED) {
        b->state = VAULT_WAKEUP_CARRIED;
    }
}

void vault_wakeup_uncarry_locked(vault_waiters_t *w, int fd)
{
    vault_wakeup_t *b = find(w, fd);

    if (!b) {
        return;
    }
    if (b->state == VAULT_WAKEUP_DEFERRED) {
        undefer(w, fd);
    }
    else if (b->state == VAULT_WAKEUP_SIGNALLED) {
        w->collected++;
        w->signalled -= w->signalled > 0;
    }
    b->state = VAULT_WAKEUP_UNCARRIED;
    signal_deferred(w);
}

/* No thread collects the wakeup of a connection that the MPM has lost. If no thread has collected any wakeup for a
 * second, the limit counts from zero again, so that the deferred wakeups are signalled. */
void vault_wakeups_check_stall(vault_waiters_t *w)
{
    pthread_mutex_lock(&w->lock);
    if (w->deferred_first >= 0 && w->collected == w->collected_before) {
        w->signalled = 0;
        signal_deferred(w);
    }
    w->collected_before = w->collected;
    pthread_mutex_unlock(&w->lock);
}
