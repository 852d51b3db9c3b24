/* SPDX-License-Identifier: Apache-2.0 */
/* A call belongs to its request until the request has waited too long; then to its thread. The lock decides. */
#include "socache/socache_call.h"

#include <pthread.h>
#include <signal.h>

#include "httpd.h"

#include "base/now.h"
#include "base/pause.h"
#include "server/log.h"
#include "server/server.h"

APLOG_USE_MODULE(vault);

#define SLOW apr_time_from_sec(1)
#define PAUSE apr_time_from_sec(5)

enum { MADE, RUNS, LEFT, ENDED };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t a_call_ended; /* waits by the clock of vault_now() */
static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static unsigned calls; /* lock */
static vault_pause_t outage;

static void prepare(void)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&a_call_ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

/* ------------------------------------------------------------------ make, free */

static int may_begin(void)
{
    int may;

    pthread_once(&prepared, prepare);
    pthread_mutex_lock(&lock);
    may = calls < VAULT_SOCACHE_CALLS && vault_pause_is_over(&outage);
    calls += (unsigned)may;
    pthread_mutex_unlock(&lock);
    return may;
}

static void give_back(void)
{
    pthread_mutex_lock(&lock);
    calls--;
    pthread_cond_broadcast(&a_call_ended);
    pthread_mutex_unlock(&lock);
}

vault_socache_call_t *vault_socache_call_make(void)
{
    vault_socache_call_t *call;
    apr_pool_t *pool;

    if (!may_begin()) {
        return NULL;
    }
    if (apr_pool_create_unmanaged_ex(&pool, NULL, NULL) != APR_SUCCESS) {
        give_back();
        return NULL;
    }
    call = apr_pcalloc(pool, sizeof(*call));
    call->pool = pool;
    return call;
}

void vault_socache_call_free(vault_socache_call_t *call)
{
    apr_pool_destroy(call->pool);
    give_back();
}

/* --------------------------------------------------------------------- failure */

static void judge(const char *cache, apr_status_t rv, apr_interval_time_t took)
{
    int level;

    if ((rv == APR_SUCCESS || rv == APR_NOTFOUND) && took < SLOW) {
        return;
    }
    level = vault_pause_begin(&outage, PAUSE) ? APLOG_WARNING : APLOG_DEBUG;
    ap_log_error(APLOG_MARK, level, rv, vault_server->s,
                 VLTNO(00442) "VaultCacheSocache %s failed or was slow (%" APR_TIME_T_FMT
                              " ms): for %d s outputs are rendered without it",
                 cache, apr_time_as_msec(took), (int)apr_time_sec(PAUSE));
}

/* --------------------------------------------------------------------- threads */

static void *run(void *data)
{
    vault_socache_call_t *call = data;
    int left;

    call->rv = call->run(call);
    pthread_mutex_lock(&lock);
    left = call->state == LEFT;
    call->state = ENDED;
    pthread_cond_broadcast(&a_call_ended);
    pthread_mutex_unlock(&lock);
    if (left) {
        judge(call->cache, call->rv, vault_now() - call->begun);
        vault_socache_call_free(call);
    }
    return NULL;
}

/* The thread inherits the signal mask, so that signals go to httpd's own threads. */
static int start(vault_socache_call_t *call, int state)
{
    sigset_t all, before;
    pthread_t thread;
    int failed;

    call->begun = vault_now();
    call->state = state;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&thread, NULL, run, call);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed) {
        pthread_detach(thread);
    }
    return failed;
}

/* @return 0: it has not ended in time, and now belongs to its thread */
static int await(vault_socache_call_t *call)
{
    apr_time_t end = call->begun + SLOW;
    struct timespec until = {.tv_sec = apr_time_sec(end), .tv_nsec = apr_time_usec(end) * 1000};
    int late = 0, ended;

    pthread_mutex_lock(&lock);
    while (call->state != ENDED && !late) {
        late = pthread_cond_timedwait(&a_call_ended, &lock, &until);
    }
    ended = call->state == ENDED;
    if (!ended) {
        call->state = LEFT;
    }
    pthread_mutex_unlock(&lock);
    return ended;
}

apr_status_t vault_socache_call_wait(vault_socache_call_t *call)
{
    const char *cache = call->cache;
    int failed = start(call, RUNS);

    if (failed) {
        judge(cache, APR_FROM_OS_ERROR(failed), 0);
        return call->rv = APR_FROM_OS_ERROR(failed);
    }
    if (!await(call)) {
        judge(cache, APR_TIMEUP, SLOW);
        return APR_TIMEUP;
    }
    judge(cache, call->rv, vault_now() - call->begun);
    return call->rv;
}

void vault_socache_call_leave(vault_socache_call_t *call)
{
    int failed = start(call, LEFT);

    if (failed) {
        judge(call->cache, APR_FROM_OS_ERROR(failed), 0);
        vault_socache_call_free(call);
    }
}

void vault_socache_call_finish(void)
{
    apr_time_t end = vault_now() + SLOW;
    struct timespec until = {.tv_sec = apr_time_sec(end), .tv_nsec = apr_time_usec(end) * 1000};

    pthread_once(&prepared, prepare);
    pthread_mutex_lock(&lock);
    while (calls && !pthread_cond_timedwait(&a_call_ended, &lock, &until)) {
    }
    pthread_mutex_unlock(&lock);
}
