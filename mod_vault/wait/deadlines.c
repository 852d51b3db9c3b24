/* SPDX-License-Identifier: Apache-2.0 */
/* A binary heap of waiters. Each knows its index, so that it can be taken out from the middle. */
#include "wait/deadlines.h"

#include <stdlib.h>

static void heap_put(vault_deadlines_t *d, apr_size_t at, vault_waiter_t *waiter)
{
    d->heap[at] = waiter;
    waiter->heap_index = at;
}

static void heap_up(vault_deadlines_t *d, apr_size_t at, vault_waiter_t *waiter)
{
    while (at > 0 && d->heap[(at - 1) / 2]->due > waiter->due) {
        heap_put(d, at, d->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    heap_put(d, at, waiter);
}

static void heap_down(vault_deadlines_t *d, apr_size_t at, vault_waiter_t *waiter)
{
    apr_size_t child;

    while ((child = 2 * at + 1) < d->count) {
        if (child + 1 < d->count && d->heap[child + 1]->due < d->heap[child]->due) {
            child++;
        }
        if (d->heap[child]->due >= waiter->due) {
            break;
        }
        heap_put(d, at, d->heap[child]);
        at = child;
    }
    heap_put(d, at, waiter);
}

int vault_deadlines_insert(vault_deadlines_t *d, vault_waiter_t *waiter)
{
    if (d->count == d->room) {
        apr_size_t room = d->room ? d->room * 2 : 64;
        vault_waiter_t **heap = realloc(d->heap, room * sizeof(*heap));
        if (!heap) {
            return 0;
        }
        d->heap = heap;
        d->room = room;
    }
    heap_up(d, d->count++, waiter);
    return 1;
}

void vault_deadlines_remove(vault_deadlines_t *d, vault_waiter_t *waiter)
{
    vault_waiter_t *last = d->heap[--d->count];
    apr_size_t at = waiter->heap_index;

    if (last == waiter) {
        return;
    }
    if (at > 0 && d->heap[(at - 1) / 2]->due > last->due) {
        heap_up(d, at, last);
    }
    else {
        heap_down(d, at, last);
    }
}

void vault_deadlines_advance(vault_deadlines_t *d, vault_waiter_t *waiter, apr_time_t due)
{
    waiter->due = due;
    heap_up(d, waiter->heap_index, waiter);
}

void vault_deadlines_postpone(vault_deadlines_t *d, vault_waiter_t *waiter, apr_time_t due)
{
    waiter->due = due;
    heap_down(d, waiter->heap_index, waiter);
}
