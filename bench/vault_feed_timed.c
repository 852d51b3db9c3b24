/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vault_feed_timed: a feed that loads another one, calls its `save`, and measures that from outside: it is the host of that feed.
 *
 *     VaultFeed NAME vault_feed_timed.so feed=PATH driver=… database=…
 *
 * It appends one line for each save to the file that VAULT_BENCH_TIMES names, all times in microseconds:
 *
 *     SAVE NOTIFY CPU NAMES    the whole call; from the first notify, by the writer or by the tailer, to the end of the call; the CPU
 *                              time of the writer's own notifies (a page that wakes may take the writer's core); how many notifies
 *
 * Calls must come one after the other: a notify counts for the save that is running.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "apr_strings.h"

#include "mod_vault/vault.h"

typedef struct timed_t {
    const vault_feed_t *feed;
    const vault_feed_method_t *save;
    void *self; /* the feed's */
} timed_t;

static const vault_host_t *server;
static _Atomic apr_int64_t first_notify_ns; /* 0: none since the save began */
static atomic_uint names;
static __thread double own_cpu_us;

static apr_int64_t read_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (apr_int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static apr_status_t notify_cb(const char *interest)
{
    apr_int64_t none = 0, cpu = read_ns(CLOCK_THREAD_CPUTIME_ID);
    apr_status_t rv;

    atomic_compare_exchange_strong(&first_notify_ns, &none, read_ns(CLOCK_MONOTONIC));
    atomic_fetch_add(&names, 1);
    rv = server->notify(interest);
    own_cpu_us += (double)(read_ns(CLOCK_THREAD_CPUTIME_ID) - cpu) / 1e3;
    return rv;
}

/* One write(2) to a file opened for appending: lines of several threads and children do not mix. */
static void append_line(double save_us, double notify_us)
{
    const char *path = getenv("VAULT_BENCH_TIMES");
    int fd = path != NULL ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;

    if (fd >= 0) {
        (void)dprintf(fd, "%.1f %.1f %.1f %u\n", save_us, notify_us, own_cpu_us, atomic_load(&names));
        close(fd);
    }
}

static apr_status_t save_cb(void *self, vault_call_t *call, const json_t *args, json_t **rows)
{
    const timed_t *timed = self;
    apr_int64_t begin = read_ns(CLOCK_MONOTONIC), end, first;
    apr_status_t rv;

    own_cpu_us = 0;
    atomic_store(&names, 0);
    atomic_store(&first_notify_ns, 0);
    rv = timed->save->call(timed->self, call, args, rows);
    end = read_ns(CLOCK_MONOTONIC);
    first = atomic_load(&first_notify_ns);
    if (rv == APR_SUCCESS) {
        append_line((double)(end - begin) / 1e3, first != 0 ? (double)(end - first) / 1e3 : 0);
    }
    return rv;
}

/* ------------------------------------------------------------ the feed */

static const char *load_feed(timed_t *timed, const char *path, apr_pool_t *pool)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    timed->feed = library != NULL ? dlsym(library, "vault_feed") : NULL;
    if (timed->feed == NULL) {
        return apr_psprintf(pool, "feed=%s cannot be loaded: %s", path, dlerror());
    }
    for (timed->save = timed->feed->methods; timed->save->name != NULL; timed->save++) {
        if (strcmp(timed->save->name, "save") == 0) {
            return NULL;
        }
    }
    return apr_psprintf(pool, "feed=%s has no method save", path);
}

static const char *open_cb(void **self, const vault_host_t *host, const apr_table_t *given, apr_pool_t *pool)
{
    timed_t *timed = apr_pcalloc(pool, sizeof(*timed));
    vault_host_t *timing = apr_pmemdup(pool, host, host->size);
    apr_table_t *params = apr_table_make(pool, 16);
    const char *wrong = load_feed(timed, apr_table_get(given, "feed"), pool);

    if (wrong != NULL) {
        return wrong;
    }
    for (const vault_feed_param_t *param = timed->feed->params; param->name != NULL; param++) {
        const char *value = apr_table_get(given, param->name);

        apr_table_set(params, param->name, value != NULL && value[0] != '\0' ? value : param->fallback);
    }
    server = host;
    timing->notify = notify_cb;
    *self = timed;
    return timed->feed->open(&timed->self, timing, params, pool);
}

static const char *child_start_cb(void *self, apr_pool_t *pchild)
{
    const timed_t *timed = self;

    return timed->feed->child_start(timed->self, pchild);
}

static void child_stop_cb(void *self)
{
    const timed_t *timed = self;

    timed->feed->child_stop(timed->self);
}

static const vault_feed_param_t params[] = {
    {"feed", NULL, "the shared object of the feed that is measured", VAULT_PARAM_PATH},
    {"driver", NULL, "as of the feed", 0},
    {"database", NULL, "as of the feed", 0},
    {"host", "", "as of the feed", 0},
    {"port", "", "as of the feed", 0},
    {"user", "", "as of the feed", 0},
    {"password", "", "as of the feed", 0},
    {"poll", "", "as of the feed", 0},
    {NULL, NULL, NULL, 0},
};

static const vault_feed_method_t methods[] = {
    {"save", VAULT_METHOD_WRITES, save_cb},
    {NULL, 0, NULL},
};

const vault_feed_t vault_feed = {
    .abi = VAULT_FEED_ABI,
    .size = sizeof(vault_feed_t),
    .name = "timed",
    .params = params,
    .methods = methods,
    .open = open_cb,
    .child_start = child_start_cb,
    .child_stop = child_stop_cb,
};
