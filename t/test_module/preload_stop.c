/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file preload_stop.c
 * Loaded before httpd's libraries (LD_PRELOAD): stops a request that has entered the queue of a VaultQosLimit
 * before the child's waker can find it. There is no hook at this point, but mod_vault then registers data at
 * the request's pool by a call that passes through here.
 *
 * It stops while the file named by VAULT_TEST_STOP exists, and creates the file with ".reached" appended when
 * it does.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apr_pools.h"
#include "apr_time.h"

/* As in throttle.c. */
#define ADMISSIONS "mod_vault admissions"
/* So that a broken test ends. */
#define LONGEST apr_time_from_sec(30)

typedef apr_status_t setn_fn(const void *data, const char *key, apr_status_t (*cleanup)(void *), apr_pool_t *pool);

static void stop_while_there_is(const char *path)
{
    char reached[1024];
    apr_interval_time_t stopped;

    if (!path || access(path, F_OK)) {
        return;
    }
    snprintf(reached, sizeof(reached), "%s.reached", path);
    close(open(reached, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    for (stopped = 0; stopped < LONGEST && !access(path, F_OK); stopped += 1000) {
        usleep(1000);
    }
}

apr_status_t apr_pool_userdata_setn(const void *data, const char *key, apr_status_t (*cleanup)(void *),
                                    apr_pool_t *pool)
{
    setn_fn *real;
    apr_status_t rv;

    *(void **)&real = dlsym(RTLD_NEXT, "apr_pool_userdata_setn");
    rv = real(data, key, cleanup, pool);
    if (!strcmp(key, ADMISSIONS)) {
        stop_while_there_is(getenv("VAULT_TEST_STOP"));
    }
    return rv;
}
