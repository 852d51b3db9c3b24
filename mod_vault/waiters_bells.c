/* SPDX-License-Identifier: Apache-2.0 */
/* The bells of the polls, and how many of them ring at a time.
 *
 * A bell is an eventfd. It is never closed while the child lives, so that a late ring reaches at worst another poll,
 * which takes it for an extraneous one.
 *
 * While a bell is carried, the MPM polls for it. The listener of httpd 2.4.71's event MPM takes all connections that
 * are ready in one go, and for each it waits for an idle thread. Until it has one for each of them it does nothing
 * else: it accepts no connection. A child that must end at once waits for it as well, for more than five seconds if its
 * threads have gone meanwhile. And when a graceful restart finds it waiting, it hands out one connection more than its
 * queue may hold, and the child crashes. So at most `hands` of the bells that are carried ring at a time. The others
 * are held, the oldest first, until a thread has come for one.
 */
#include "waiters_inside.h"

#include <stdlib.h>
#include <sys/eventfd.h>

/* ------------------------------------------------------------------ places */

static vault_bell_t *find(const vault_waiters_t *w, int fd)
{
    return fd >= 0 && fd < w->bells_end ? &w->bells[fd] : NULL;
}

/* Without a place, for want of memory, a bell rings at once. */
static void make_place(vault_waiters_t *w, int fd)
{
    int end = fd < 32 ? 64 : fd * 2;
    vault_bell_t *bells;

    if (fd < w->bells_end || !(bells = realloc(w->bells, (apr_size_t)end * sizeof(*bells)))) {
        return;
    }
    memset(bells + w->bells_end, 0, (apr_size_t)(end - w->bells_end) * sizeof(*bells));
    w->bells = bells;
    w->bells_end = end;
}

int vault_bells_take(vault_waiters_t *w)
{
    int fd = -1;

    pthread_mutex_lock(&w->lock);
    if (w->free_bells) {
        fd = w->free[--w->free_bells];
        silence(fd);
    }
    else if ((fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) >= 0) {
        make_place(w, fd);
    }
    pthread_mutex_unlock(&w->lock);
    return fd;
}

void vault_bells_give_locked(vault_waiters_t *w, int fd)
{
    vault_bells_release_locked(w, fd);
    if (w->free_bells == w->free_room) {
        apr_size_t room = w->free_room ? w->free_room * 2 : 64;
        int *bells = realloc(w->free, room * sizeof(*bells));
        if (!bells) {
            return; /* the descriptor is lost; closing it could let a late ring write into another file */
        }
        w->free = bells;
        w->free_room = room;
    }
    w->free[w->free_bells++] = fd;
}

void vault_bells_free(vault_waiters_t *w)
{
    while (w->free_bells) {
        close(w->free[--w->free_bells]);
    }
    free(w->free);
    free(w->bells);
}

/* ------------------------------------------------------------------- ringing */

static void hold(vault_waiters_t *w, int fd)
{
    vault_bell_t *b = find(w, fd), *last = find(w, w->held_last);

    b->state = VAULT_BELL_HELD;
    b->prev = w->held_last;
    b->next = -1;
    *(last ? &last->next : &w->held_first) = fd;
    w->held_last = fd;
}

static void let_go(vault_waiters_t *w, int fd)
{
    const vault_bell_t *b = find(w, fd);
    vault_bell_t *next = find(w, b->next), *prev = find(w, b->prev);

    *(prev ? &prev->next : &w->held_first) = b->next;
    *(next ? &next->prev : &w->held_last) = b->prev;
}

/* In a process that ends at once no thread comes for a bell that is carried. What rings after the MPM has closed the
 * sockets that its threads have in hand, and before mod_vault is told of the end, is not caught: some microseconds, in
 * which another thread would have to open a file. */
static void hand(vault_waiters_t *w, int fd)
{
    find(w, fd)->state = VAULT_BELL_HANDED;
    w->handed++;
    if (!has_halted(w)) {
        ring(fd);
    }
}

static void hand_those_held(vault_waiters_t *w)
{
    int fd;

    while (w->handed < w->hands && (fd = w->held_first) >= 0) {
        let_go(w, fd);
        hand(w, fd);
    }
}

void vault_bells_ring_locked(vault_waiters_t *w, int fd)
{
    const vault_bell_t *b = find(w, fd);

    if (!b || b->state == VAULT_BELL_HERE) {
        ring(fd);
    }
    else if (b->state == VAULT_BELL_CARRIED && w->handed < w->hands) {
        hand(w, fd);
    }
    else if (b->state == VAULT_BELL_CARRIED) {
        hold(w, fd);
    }
}

void vault_bells_carry_locked(vault_waiters_t *w, int fd)
{
    vault_bell_t *b = find(w, fd);

    if (b && b->state == VAULT_BELL_HERE) {
        b->state = VAULT_BELL_CARRIED;
    }
}

void vault_bells_release_locked(vault_waiters_t *w, int fd)
{
    vault_bell_t *b = find(w, fd);

    if (!b) {
        return;
    }
    if (b->state == VAULT_BELL_HELD) {
        let_go(w, fd);
    }
    else if (b->state == VAULT_BELL_HANDED) {
        w->fetched++;
        w->handed -= w->handed > 0;
    }
    b->state = VAULT_BELL_HERE;
    hand_those_held(w);
}

/* No thread comes for a connection that the MPM has lost. If none has come for any during a second, as many again are
 * handed. */
void vault_bells_look(vault_waiters_t *w)
{
    pthread_mutex_lock(&w->lock);
    if (w->held_first >= 0 && w->fetched == w->looked_at) {
        w->handed = 0;
        hand_those_held(w);
    }
    w->looked_at = w->fetched;
    pthread_mutex_unlock(&w->lock);
}
