/* SPDX-License-Identifier: Apache-2.0 */
/* Ends statements that the server does not end itself. */
#include "sql/guard.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "apr_thread_cond.h"
#include "apr_thread_mutex.h"
#include "apr_thread_proc.h"

#include "base/now.h"

#define STEP apr_time_from_sec(1)

struct sql_guard_t {
    apr_thread_t *thread;     /* const after start */
    apr_thread_mutex_t *lock; /* guards all that follows */
    apr_thread_cond_t *wake;
    sql_guarded_t *first; /* the statements that run */
    int sleeps;           /* the thread sleeps until it is woken, not just for a step */
    int stops;
};

static void *APR_THREAD_FUNC watch(apr_thread_t *thread, void *data)
{
    sql_guard_t *guard = data;

    apr_thread_mutex_lock(guard->lock);
    while (!guard->stops) {
        for (sql_guarded_t *at = guard->first; at != NULL; at = at->next) {
            if (at->until <= apr_time_sec(vault_now())) {
                shutdown(at->descriptor, SHUT_RDWR);
            }
        }
        if (guard->first != NULL) {
            apr_thread_cond_timedwait(guard->wake, guard->lock, STEP);
        }
        else {
            guard->sleeps = 1;
            apr_thread_cond_wait(guard->wake, guard->lock);
            guard->sleeps = 0;
        }
    }
    apr_thread_mutex_unlock(guard->lock);
    return NULL;
}

apr_status_t sql_guard_start(sql_guard_t **guard, apr_pool_t *pool)
{
    sql_guard_t *made = apr_pcalloc(pool, sizeof(*made));
    apr_status_t rv = apr_thread_mutex_create(&made->lock, APR_THREAD_MUTEX_DEFAULT, pool);

    if (rv == APR_SUCCESS) {
        rv = apr_thread_cond_create(&made->wake, pool);
    }
    if (rv == APR_SUCCESS) {
        rv = apr_thread_create(&made->thread, NULL, watch, made, pool);
    }
    *guard = rv == APR_SUCCESS ? made : NULL;
    return rv;
}

void sql_guard_stop(sql_guard_t *guard)
{
    apr_status_t ended;

    apr_thread_mutex_lock(guard->lock);
    guard->stops = 1;
    apr_thread_cond_signal(guard->wake);
    apr_thread_mutex_unlock(guard->lock);
    apr_thread_join(&ended, guard->thread);
}

void sql_guarded_open(sql_guarded_t *guarded, int socket)
{
    guarded->descriptor = socket >= 0 ? fcntl(socket, F_DUPFD_CLOEXEC, 0) : -1;
}

void sql_guarded_close(sql_guarded_t *guarded)
{
    if (guarded->descriptor >= 0) {
        close(guarded->descriptor);
    }
    guarded->descriptor = -1;
}

void sql_guard_begin(sql_guard_t *guard, sql_guarded_t *guarded, int seconds)
{
    if (guarded->descriptor < 0) {
        return;
    }
    apr_thread_mutex_lock(guard->lock);
    guarded->until = apr_time_sec(vault_now()) + seconds + 1;
    guarded->next = guard->first;
    guard->first = guarded;
    if (guard->sleeps) {
        guard->sleeps = 0;
        apr_thread_cond_signal(guard->wake);
    }
    apr_thread_mutex_unlock(guard->lock);
}

void sql_guard_end(sql_guard_t *guard, sql_guarded_t *guarded)
{
    if (guarded->descriptor < 0) {
        return;
    }
    apr_thread_mutex_lock(guard->lock);
    for (sql_guarded_t **at = &guard->first; *at != NULL; at = &(*at)->next) {
        if (*at == guarded) {
            *at = guarded->next;
            break;
        }
    }
    apr_thread_mutex_unlock(guard->lock);
}
