/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file lock.h
 * A mutex in shared memory that survives the death of its owner.
 *
 * A child of httpd can be killed at any instruction, also inside a critical section. The next process that
 * acquires the lock learns that the owner has died. It must then repair the data that the lock guards, and
 * notify all. pthread's robust mutex is used directly, because apr_proc_mutex recovers silently and has a
 * mapping of its own for each mutex.
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

/** Acquire the lock; blocks.
 * @return 1: the last owner died inside, so repair the data and notify all; 0: otherwise */
int vault_lock_acquire(vault_lock_t *lock);

void vault_lock_release(vault_lock_t *lock);

#endif
