/* SPDX-License-Identifier: Apache-2.0 */
/* Named variables and barriers in one anonymous segment, with one robust mutex. */
#include "shared.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "apr_atomic.h"
#include "apr_shm.h"
#include "apr_strings.h"
#include "http_config.h"

#define ENTRIES 1024
#define NUMBERS 65536
/* Longer than a test takes on a loaded machine for what it does before it opens a barrier. */
#define BARRIER_SECONDS 120

typedef struct entry_t {
    char name[SHARED_NAME_MAX + 1];
    char value[SHARED_VALUE_MAX + 1];
    long arrived;
    apr_uint32_t
        open; /* a futex: waiting on it survives that another waiter is killed, a condition variable does not */
} entry_t;

typedef struct table_t {
    pthread_mutex_t mutex;
    entry_t entries[ENTRIES];
    long numbers[NUMBERS]; /* atomic */
} table_t;

static table_t *table;         /* inherited by every child */
static apr_uint32_t abandoned; /* atomic; this process no longer waits at barriers */

static void init_mutex(table_t *t)
{
    pthread_mutexattr_t attr;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&t->mutex, &attr);
    pthread_mutexattr_destroy(&attr);
}

apr_status_t shared_create(apr_pool_t *pconf)
{
    static const char key[] = "vault-test-shared";
    table_t **kept = ap_retained_data_get(key);
    apr_pool_t *forever;
    apr_shm_t *shm;
    apr_status_t rv;

    if (kept) {
        table = *kept;
        return APR_SUCCESS;
    }
    apr_pool_create_unmanaged_ex(&forever, NULL, NULL);
    rv = apr_shm_create(&shm, sizeof(table_t), NULL, forever);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    table = apr_shm_baseaddr_get(shm);
    memset(table, 0, sizeof *table);
    init_mutex(table);
    kept = ap_retained_data_create(key, sizeof *kept);
    *kept = table;
    return APR_SUCCESS;
}

static void lock(void)
{
    if (pthread_mutex_lock(&table->mutex) == EOWNERDEAD) {
        pthread_mutex_consistent(&table->mutex);
    }
}

static void unlock(void)
{
    pthread_mutex_unlock(&table->mutex);
}

static entry_t *find_locked(const char *name)
{
    if (!name || !*name || strlen(name) > SHARED_NAME_MAX) {
        return NULL;
    }
    for (int i = 0; i < ENTRIES; i++) {
        entry_t *e = &table->entries[i];

        if (!e->name[0]) {
            apr_cpystrn(e->name, name, sizeof e->name);
        }
        if (!strcmp(e->name, name)) {
            return e;
        }
    }
    return NULL;
}

/** @return the slot of "#0" to "#65535"; NULL: another variable */
static long *find_number(const char *name)
{
    char *end;
    long number = name && name[0] == '#' ? strtol(name + 1, &end, 10) : -1;

    return number >= 0 && number < NUMBERS && !*end ? &table->numbers[number] : NULL;
}

const char *shared_get(const char *name, apr_pool_t *pool)
{
    const char *value = NULL;
    const long *number = find_number(name);
    entry_t *e;

    if (number) {
        return apr_ltoa(pool, __atomic_load_n(number, __ATOMIC_SEQ_CST));
    }
    lock();
    e = find_locked(name);
    if (e) {
        value = apr_pstrdup(pool, e->value);
    }
    unlock();
    return value;
}

apr_status_t shared_set(const char *name, const char *value)
{
    entry_t *e;

    if (strlen(value) > SHARED_VALUE_MAX) {
        return APR_EINVAL;
    }
    lock();
    e = find_locked(name);
    if (e) {
        apr_cpystrn(e->value, value, sizeof e->value);
    }
    unlock();
    return e ? APR_SUCCESS : APR_ENOSPC;
}

long shared_add(const char *name, long step)
{
    long now = -1, *number = find_number(name);
    entry_t *e;

    if (number) {
        return __atomic_add_fetch(number, step, __ATOMIC_SEQ_CST);
    }
    lock();
    e = find_locked(name);
    if (e) {
        now = strtol(e->value, NULL, 10) + step;
        apr_snprintf(e->value, sizeof e->value, "%ld", now);
    }
    unlock();
    return now;
}

/** @return 1: the barrier was opened in time */
static int wait_open(entry_t *e)
{
    struct timespec left = {BARRIER_SECONDS, 0};

    while (!apr_atomic_read32(&e->open) && !apr_atomic_read32(&abandoned)) {
        if (syscall(SYS_futex, &e->open, FUTEX_WAIT, 0, &left, NULL, 0) == -1 && errno == ETIMEDOUT) {
            return 0;
        }
    }
    return 1;
}

apr_status_t shared_barrier_wait(const char *name)
{
    entry_t *e;

    lock();
    e = find_locked(name);
    if (e) {
        e->arrived++;
    }
    unlock();
    if (!e) {
        return APR_ENOSPC;
    }
    return wait_open(e) ? APR_SUCCESS : APR_TIMEUP;
}

apr_status_t shared_barrier_open(const char *name)
{
    entry_t *e;

    lock();
    e = find_locked(name);
    unlock();
    if (!e) {
        return APR_ENOSPC;
    }
    apr_atomic_set32(&e->open, 1);
    syscall(SYS_futex, &e->open, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    return APR_SUCCESS;
}

void shared_barriers_abandon(void)
{
    unsigned i;

    apr_atomic_set32(&abandoned, 1);
    for (i = 0; i < ENTRIES; i++) {
        syscall(SYS_futex, &table->entries[i].open, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    }
}

apr_status_t shared_barrier_close(const char *name)
{
    entry_t *e;

    lock();
    e = find_locked(name);
    if (e) {
        apr_atomic_set32(&e->open, 0);
        e->arrived = 0;
    }
    unlock();
    return e ? APR_SUCCESS : APR_ENOSPC;
}

long shared_barrier_arrived(const char *name)
{
    long arrived = -1;
    entry_t *e;

    lock();
    e = find_locked(name);
    if (e) {
        arrived = e->arrived;
    }
    unlock();
    return arrived;
}
