/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file deadlines.h
 * The waiters of a child, the one due first at the front: heap[0] of `count`.
 *
 * Guarded by the lock of the waiters. Zeroed before its first use; its owner frees `heap`.
 */
#ifndef VAULT_DEADLINES_H
#define VAULT_DEADLINES_H

#include "wait/waiters.h"

typedef struct vault_deadlines_t {
    vault_waiter_t **heap;
    apr_size_t count, room;
} vault_deadlines_t;

/** @return 1; 0 there is no memory: nothing was done */
int vault_deadlines_insert(vault_deadlines_t *d, vault_waiter_t *waiter);

/** Take it out. It must be in. */
void vault_deadlines_remove(vault_deadlines_t *d, vault_waiter_t *waiter);

/** Make it due earlier. */
void vault_deadlines_advance(vault_deadlines_t *d, vault_waiter_t *waiter, apr_time_t due);

/** Make it due later. */
void vault_deadlines_postpone(vault_deadlines_t *d, vault_waiter_t *waiter, apr_time_t due);

#endif
