/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file notifier-bench.c
 * The number of calls per second of the notifier on one core, in memory, without httpd.
 *
 * Each row runs five times for a fifth of a second; the median is printed with the minimum and the maximum, in
 * millions per second. An argument sets another time. The tables are those of a large site: 40,000 interests
 * held, 32 slots.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "apr_general.h"
#include "apr_strings.h"

#include "notify/slot.h"

#define HELD 40000
#define NAMES 4096 /* of each kind, used cyclically; a power of two */
#define SLOTS 32
#define ROUNDS 5
#define BATCH 1000

static double round_seconds = 0.2;

typedef struct bench_t {
    vault_notifier_t *notifier;
    const char *held[NAMES];
    vault_interest_t interests[NAMES];
    const char *unheld[NAMES];
    unsigned slots[SLOTS];
    unsigned at; /* the index of the next name */
} bench_t;

typedef void (*call_fn)(bench_t *b, unsigned i);

/* ------------------------------------------------------------------ the rows */

static void notify_unheld(bench_t *b, unsigned i)
{
    vault_notifier_notify(b->notifier, b->unheld[i], 0);
}

static void notify_held(bench_t *b, unsigned i)
{
    vault_notifier_notify(b->notifier, b->held[i], 0);
}

static void make_and_remove(bench_t *b, unsigned i)
{
    vault_interest_t interest;
    apr_uint64_t stamp;

    if (vault_interest_hold(b->notifier, b->unheld[i], &interest, &stamp) == APR_SUCCESS) {
        vault_interest_release(b->notifier, interest);
    }
}

static void hold_and_release(bench_t *b, unsigned i)
{
    vault_interest_t interest;
    apr_uint64_t stamp;

    if (vault_interest_hold(b->notifier, b->held[i], &interest, &stamp) == APR_SUCCESS) {
        vault_interest_release(b->notifier, interest);
    }
}

static void arm(bench_t *b, unsigned i)
{
    vault_interest_arm(b->notifier, b->interests[i], b->slots[0]);
}

/* What a child does when its descriptor is written. Every 256 notifies, so that the queue never overflows. */
static void drain(bench_t *b, unsigned s)
{
    vault_interest_t list[VAULT_SLOT_QUEUE];
    apr_uint64_t rings;
    unsigned count;

    if (read(vault_slot_fd(b->notifier, b->slots[s]), &rings, sizeof(rings)) == sizeof(rings)) {
        vault_slot_drain(b->notifier, b->slots[s], list, VAULT_SLOT_QUEUE, &count);
    }
}

static void arm_and_notify(bench_t *b, unsigned i)
{
    arm(b, i);
    notify_held(b, i);
    if (i % 256 == 255) {
        drain(b, 0);
    }
}

/* As for a single notify: the descriptor is written each time. */
static void arm_notify_and_drain(bench_t *b, unsigned i)
{
    arm(b, i);
    notify_held(b, i);
    drain(b, 0);
}

static void arm_many_and_notify(bench_t *b, unsigned i)
{
    unsigned s;

    for (s = 0; s < 8; s++) {
        vault_interest_arm(b->notifier, b->interests[i], b->slots[s]);
    }
    notify_held(b, i);
    for (s = 0; s < 8 && i % 256 == 255; s++) {
        drain(b, s);
    }
}

static const struct {
    const char *what;
    call_fn call;
    double target; /* M/s; 0: none was set */
} rows[] = {
    {"notify, no page holds the name", notify_unheld, 5},
    {"notify, held, no child waits", notify_held, 0},
    {"create + remove (hold + release, new)", make_and_remove, 1},
    {"hold + release of one that others hold", hold_and_release, 0},
    {"arm", arm, 0},
    {"arm + notify, a busy child", arm_and_notify, 0},
    {"arm + notify + ring + drain, a child at rest", arm_notify_and_drain, 0},
    {"8 arms + notify, 8 busy children", arm_many_and_notify, 0},
};

/* ---------------------------------------------------------------- measuring */

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* @return millions of calls per second */
static double measure(bench_t *b, call_fn call)
{
    double begin = seconds(), end;
    unsigned long calls = 0;

    do {
        int i;

        for (i = 0; i < BATCH; i++) {
            call(b, b->at++ % NAMES);
        }
        calls += BATCH;
        end = seconds();
    } while (end - begin < round_seconds);
    return (double)calls / (end - begin) / 1e6;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* @return 1: the row has a target and missed it */
static int print_row(bench_t *b, unsigned row)
{
    double rates[ROUNDS];
    char target[16] = "";
    int i;

    measure(b, rows[row].call); /* memory and caches warm */
    for (i = 0; i < ROUNDS; i++) {
        rates[i] = measure(b, rows[row].call);
    }
    qsort(rates, ROUNDS, sizeof(rates[0]), by_size);
    if (rows[row].target > 0) {
        apr_snprintf(target, sizeof(target), "%.0f", rows[row].target);
    }
    printf("%-46s %8.2f %8.2f %8.2f %8s\n", rows[row].what, rates[ROUNDS / 2], rates[0], rates[ROUNDS - 1], target);
    fflush(stdout);
    return rates[ROUNDS / 2] < rows[row].target;
}

/* -------------------------------------------------------------------- set up */

/* Holds 40,000 interests, of which NAMES are notified, and claims all slots. */
static apr_status_t fill(bench_t *b, apr_pool_t *pool)
{
    apr_status_t rv = APR_SUCCESS;
    unsigned i;

    for (i = 0; i < HELD && rv == APR_SUCCESS; i++) {
        const char *name = apr_psprintf(pool, "DB-table-%u", i);
        vault_interest_t interest;
        apr_uint64_t stamp;

        rv = vault_interest_hold(b->notifier, name, &interest, &stamp);
        b->held[i % NAMES] = name;
        b->interests[i % NAMES] = interest;
    }
    for (i = 0; i < NAMES; i++) {
        b->unheld[i] = apr_psprintf(pool, "DB-other-%u", i);
    }
    for (i = 0; i < SLOTS && rv == APR_SUCCESS; i++) {
        rv = vault_slot_claim(b->notifier, (pid_t)(i + 1), &b->slots[i]);
    }
    return rv;
}

static apr_status_t set_up(bench_t *b, apr_pool_t *pool)
{
    vault_limits_t limits = {0, HELD + NAMES, 1, SLOTS, 0};
    vault_segment_t *segment;
    apr_status_t rv;

    limits.size = vault_notifier_space(&limits) + 4096;
    rv = vault_segment_create(&segment, &limits, pool);
    if (rv == APR_SUCCESS) {
        rv = vault_notifier_create(&b->notifier, segment, pool);
    }
    return rv == APR_SUCCESS ? fill(b, pool) : rv;
}

int main(int argc, char **argv)
{
    bench_t b = {0};
    apr_pool_t *pool;
    apr_status_t rv;
    unsigned row;
    int missed = 0;

    if (argc > 1) {
        round_seconds = strtod(argv[1], NULL);
    }
    rv = apr_initialize();
    if (rv == APR_SUCCESS) {
        rv = apr_pool_create(&pool, NULL);
    }
    if (rv == APR_SUCCESS) {
        rv = set_up(&b, pool);
    }
    if (rv != APR_SUCCESS) {
        char error[120];

        fprintf(stderr, "notifier-bench: %s\n", apr_strerror(rv, error, sizeof(error)));
        return 1;
    }
    printf("%d interests held, one thread, millions a second\n\n", HELD);
    printf("%-46s %8s %8s %8s %8s\n", "", "median", "least", "most", "target");
    for (row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
        missed += print_row(&b, row);
    }
    apr_terminate();
    return missed ? 2 : 0;
}
