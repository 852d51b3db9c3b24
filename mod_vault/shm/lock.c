/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file lock.c
 * A mutex in shared memory that survives its owner: pthread's robust mutex, in the few shapes needed here.
 *
 * The lock is marked consistent before the caller has repaired anything: a caller killed in its repair is a dead owner again, so the
 * next one repairs in its turn. The state ENOTRECOVERABLE, which nobody could leave, is thus never reached.
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
        /* Only a mutex that was overwritten gets here. Going on would be to write into shared memory without the lock. */
        abort();
    }
    return 1;
}

void vault_lock_release(vault_lock_t *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}
