/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file lock.h
 * A mutex in shared memory that survives its owner.
 *
 * A child of httpd may be killed at any instruction, also inside a critical section. The next process to ask for the lock gets it
 * together with the news that the owner died; what the lock guards must then be made consistent, and everybody must be notified.
 * pthread's robust mutex is used directly because apr_proc_mutex repairs in silence and keeps each mutex in a mapping of its own.
 */
#ifndef VAULT_LOCK_H
#define VAULT_LOCK_H

#include <pthread.h>

#include "apr_errno.h"

typedef struct vault_lock_t {
    pthread_mutex_t mutex;
} vault_lock_t;

/** Prepare a lock in memory that every process will share. */
apr_status_t vault_lock_init(vault_lock_t *lock);

/** Take the lock; blocks.
 * @return 1  the last owner died inside: repair what it guards, then notify all
 *         0  otherwise */
int vault_lock_acquire(vault_lock_t *lock);

void vault_lock_release(vault_lock_t *lock);

#endif
