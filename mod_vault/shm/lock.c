/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file lock.c
 * A mutex in shared memory that survives the death of its owner: a robust mutex of pthread, with the operations
 * needed here.
 *
 * The lock is marked consistent before the caller repairs anything. If the caller is killed during the repair,
 * it is a dead owner again, and the next owner repairs in turn. So the lock never becomes ENOTRECOVERABLE, from
 * which there is no way back.
 */
#include "shm/lock.h"

#include <errno.h>
#include <stdlib.h>

apr_status_t vault_lock_init(vault_lock_t *lock)
{
    pthread_mutexattr_t attr;
    int rv = pthread_mutexattr_init(&attr);

    if (rv) {
        return rv;
    }
    rv = pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    if (!rv) {
        rv = pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    }
    if (!rv) {
        rv = pthread_mutex_init(&lock->mutex, &attr);
    }
    pthread_mutexattr_destroy(&attr);
    return rv;
}

int vault_lock_acquire(vault_lock_t *lock)
{
    int rv = pthread_mutex_lock(&lock->mutex);

    if (!rv) {
        return 0;
    }
    if (rv != EOWNERDEAD || pthread_mutex_consistent(&lock->mutex)) {
        /* This happens only if the mutex was overwritten. To continue would be to write to shared memory without the
         * lock. */
        abort();
    }
    return 1;
}

void vault_lock_release(vault_lock_t *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}
