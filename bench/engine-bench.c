/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file engine-bench.c
 * What a notification engine does for mod_vault_nats, the engine included: interests created and removed by a number of
 * generators, and notifies relayed to a number of links (figures 9 and 10 of the Vault paper).
 *
 *     engine-bench MODULE URL [SECONDS]
 *
 * MODULE is mod_vault_nats.so, which is used as httpd uses it: this program is the registry of providers. Each
 * generator is a thread with a link of its own. It waits for the engine after BATCH pairs, as the gateway does.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "httpd.h"
#include "ap_provider.h"
#include "apr_general.h"
#include "http_config.h"

#include "mod_vault/engine.h"

#define BATCH 256
#define LINKS_MAX 50
#define WITHIN apr_time_from_sec(10)
#define LATENCIES 100000

static const vault_engine_t *engine;
static vault_engine_options_t options = {.name = "engine-bench"};
static double run_seconds = 1;
static unsigned long received; /* atomic; by all links */
static unsigned dropped;       /* atomic */

/* The module registers its engine by this function of httpd. */
AP_DECLARE(apr_status_t)
ap_register_provider(apr_pool_t *pool, const char *group, const char *name, const char *version, const void *provider)
{
    engine = provider;
    return APR_SUCCESS;
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void fail(const char *what)
{
    fprintf(stderr, "engine-bench: %s\n", what);
    exit(1);
}

/* ------------------------------------------------------------------------ links */

static void on_message(void *baton, const char *subject, const void *data, apr_size_t size)
{
    __atomic_add_fetch(&received, 1, __ATOMIC_RELAXED);
}

static void on_lost(void *baton, const char *why)
{
    fail(why);
}

static void on_dropped(void *baton)
{
    __atomic_add_fetch(&dropped, 1, __ATOMIC_RELAXED);
}

static const vault_engine_events_t events = {on_message, on_lost, on_dropped};

static vault_engine_link_t *open_link(apr_pool_t *pool)
{
    vault_engine_link_t *link;
    const char *why = "it cannot be reached";

    if (engine->open(&link, &options, &events, NULL, &why, pool) != APR_SUCCESS) {
        fail(why);
    }
    return link;
}

static void must_flush(vault_engine_link_t *link)
{
    if (engine->flush(link, WITHIN) != APR_SUCCESS) {
        fail("the engine does not answer");
    }
}

/* -------------------------------------------------------------- create and remove */

typedef struct generator_t {
    pthread_t thread;
    unsigned number;
    vault_engine_link_t *link;
    unsigned long pairs;
    unsigned count;
    double latency[LATENCIES]; /* seconds until the engine has taken a batch */
} generator_t;

static void *generate(void *data)
{
    generator_t *g = data;
    double end = seconds() + run_seconds, begin;
    char subject[80];
    void *subscriptions[BATCH];
    unsigned i;

    while ((begin = seconds()) < end) {
        for (i = 0; i < BATCH; i++) {
            snprintf(subject, sizeof(subject), "bench.i.generator-%u-%lu", g->number, g->pairs + i);
            if (engine->subscribe(g->link, subject, &subscriptions[i]) != APR_SUCCESS) {
                fail("an interest cannot be created");
            }
        }
        for (i = 0; i < BATCH; i++) {
            engine->unsubscribe(g->link, subscriptions[i]);
        }
        must_flush(g->link);
        g->pairs += BATCH;
        if (g->count < LATENCIES) {
            g->latency[g->count++] = seconds() - begin;
        }
    }
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void run_generators(unsigned count, apr_pool_t *pool)
{
    generator_t *g = calloc(count, sizeof(*g));
    double *all = calloc((size_t)count * LATENCIES, sizeof(*all)), begin, took;
    unsigned long pairs = 0;
    size_t samples = 0;
    unsigned i;

    if (!g || !all) {
        fail("out of memory");
    }
    for (i = 0; i < count; i++) {
        g[i].number = i;
        g[i].link = open_link(pool);
    }
    begin = seconds();
    for (i = 0; i < count; i++) {
        if (pthread_create(&g[i].thread, NULL, generate, &g[i])) {
            fail("no thread can be started");
        }
    }
    for (i = 0; i < count; i++) {
        pthread_join(g[i].thread, NULL);
        pairs += g[i].pairs;
        memcpy(all + samples, g[i].latency, g[i].count * sizeof(*all));
        samples += g[i].count;
    }
    took = seconds() - begin;
    qsort(all, samples, sizeof(*all), by_size);
    printf("%10u %12.0f %10.2f %10.2f\n", count, (double)pairs / took, 1e3 * all[samples / 2],
           1e3 * all[samples * 99 / 100]);
    for (i = 0; i < count; i++) {
        engine->close(g[i].link);
    }
    free(all);
    free(g);
}

/* ------------------------------------------------------------------------- relay */

/* Until no more messages come. A link that is slow drops some, and says so. */
static void await_relayed(unsigned long expected)
{
    double until = seconds() + 10;

    while (__atomic_load_n(&received, __ATOMIC_RELAXED) < expected && !__atomic_load_n(&dropped, __ATOMIC_RELAXED) &&
           seconds() < until) {
        apr_sleep(1000);
    }
}

static void run_relay(unsigned fan_out, apr_pool_t *pool)
{
    vault_engine_link_t *publisher = open_link(pool), *links[LINKS_MAX];
    unsigned long published = 0;
    double begin, took, relayed;
    void *ignored;
    unsigned i;

    received = 0;
    dropped = 0;
    for (i = 0; i < fan_out; i++) {
        links[i] = open_link(pool);
        if (engine->subscribe(links[i], "bench.i.relay", &ignored) != APR_SUCCESS) {
            fail("an interest cannot be created");
        }
        must_flush(links[i]);
    }
    begin = seconds();
    while (seconds() - begin < run_seconds) {
        for (i = 0; i < BATCH; i++) {
            if (engine->publish(publisher, "bench.i.relay", NULL, 0) != APR_SUCCESS) {
                fail("a notify cannot be published");
            }
        }
        published += BATCH;
        must_flush(publisher);
    }
    await_relayed(published * fan_out);
    took = seconds() - begin;
    relayed = (double)__atomic_load_n(&received, __ATOMIC_RELAXED);
    printf("%10u %12.0f %12.0f %8s\n", fan_out, (double)published / took, relayed / took,
           relayed >= (double)published * fan_out ? ""
           : dropped                              ? "dropped"
                                                  : "missing");
    for (i = 0; i < fan_out; i++) {
        engine->close(links[i]);
    }
    engine->close(publisher);
}

/* -------------------------------------------------------------------------- main */

static void load_engine(const char *path, apr_pool_t *pool)
{
    void *library = dlopen(path, RTLD_NOW);
    const module *found = library ? dlsym(library, "vault_nats_module") : NULL;

    if (!found) {
        fail(dlerror());
    }
    found->register_hooks(pool);
}

int main(int argc, char **argv)
{
    static const unsigned generators[] = {1, 2, 4, 8, 16, 32}, fan_outs[] = {0, 1, 2, 5, 10, 15, 20, 30, 50};
    apr_pool_t *pool;
    size_t i;

    if (argc < 3) {
        fail("usage: engine-bench MODULE URL [SECONDS]");
    }
    if (apr_initialize() != APR_SUCCESS || apr_pool_create(&pool, NULL) != APR_SUCCESS) {
        fail("APR cannot be initialized");
    }
    run_seconds = argc > 3 ? strtod(argv[3], NULL) : run_seconds;
    options.url = argv[2];
    load_engine(argv[1], pool);
    printf("Interests created and removed, by %d in a row; ms until the engine has taken those\n\n", BATCH);
    printf("%10s %12s %10s %10s\n", "generators", "pairs/s", "p50", "p99");
    for (i = 0; i < sizeof(generators) / sizeof(generators[0]); i++) {
        run_generators(generators[i], pool);
    }
    printf("\nNotifies of one interest, by one link, relayed to others\n\n%10s %12s %12s\n", "fan-out", "received/s",
           "relayed/s");
    for (i = 0; i < sizeof(fan_outs) / sizeof(fan_outs[0]); i++) {
        run_relay(fan_outs[i], pool);
    }
    return 0;
}
