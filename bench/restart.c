/* SPDX-License-Identifier: Apache-2.0 */
/* Graceful restarts of the server under waiting polls: see restart.h. */
#include "restart.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "control.h"
#include "wire.h"

#define ROUNDS_MAX 100
#define MS 1000000.0
#define PATIENCE 30000000000u

typedef struct results_t {
    size_t rounds;
    double ended_median[ROUNDS_MAX], ended_last[ROUNDS_MAX]; /* ms from the signal until a poll has its answer */
    double gone[ROUNDS_MAX];                                 /* until the last old child has ended */
    double waiting[ROUNDS_MAX];                              /* until all pages wait again */
    double told[ROUNDS_MAX];                                 /* from the notify after that until all pages have it */
    int none, news, error, unasked, never;                   /* how polls ended, over all rounds */
} results_t;

static results_t results;

/* An ended process remains until its parent collects it, which httpd does once a second; it has no threads
 * then. */
static int has_ended(pid_t pid)
{
    char path[64], text[512], *bracket;
    FILE *f;
    size_t got;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    f = fopen(path, "re");
    if (f == NULL) {
        return 1;
    }
    got = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[got] = '\0';
    bracket = strrchr(text, ')');
    return bracket == NULL || (strlen(bracket) > 2 && strchr("ZX", bracket[2]) != NULL);
}

static int any_lives(const gauge_t *old)
{
    for (int i = 1; i < old->count; i++) {
        if (!has_ended(old->pid[i])) {
            return 1;
        }
    }
    return 0;
}

/* Polls end, pages poll again, and old children end at the same time, so one loop observes all of that. */
static void await_ends(pages_t *pages, const gauge_t *old, size_t round)
{
    uint64_t limit = pages->ends.since + PATIENCE, now = 0;
    int lives = 1;

    while ((pages->ends.left > 0 || lives) && now < limit) {
        wire_step(1);
        now = wire_now();
        if (lives && !(lives = any_lives(old))) {
            results.gone[round] = (double)(now - pages->ends.since) / MS;
        }
    }
    if (lives) {
        wire_die("30 s after a graceful restart an old child has not ended; %d polls were not answered",
                 pages->ends.left);
    }
}

/* Waits until the parent has started as many children as before, none of them an old one. */
static void await_children(gauge_t *gauge)
{
    uint64_t limit = wire_now() + PATIENCE;
    gauge_t old = *gauge;
    int same;

    do {
        wire_step(1);
        same = 0;
        gauge_open(gauge, old.pid[0]);
        for (int i = 1; i < gauge->count; i++) {
            for (int j = 1; j < old.count; j++) {
                same += gauge->pid[i] == old.pid[j];
            }
        }
        if (wire_now() > limit) {
            wire_die("30 s after a graceful restart there are %d children, %d of them old", gauge->count - 1, same);
        }
    } while (same > 0 || gauge->count < old.count);
}

static void count_ends(const pages_ends_t *ends, size_t round)
{
    results.ended_median[round] = gauge_rank(ends->ms, ends->count, 0.5);
    results.ended_last[round] = gauge_rank(ends->ms, ends->count, 1);
    results.none += ends->none;
    results.news += ends->news;
    results.error += ends->error;
    results.unasked += ends->unasked;
    results.never += ends->left;
}

static void restart(pages_t *pages, gauge_t *gauge, size_t round)
{
    uint64_t notified;

    pages_expect_ends(pages);
    if (kill(gauge->pid[0], SIGUSR1) != 0) {
        wire_die("process %d cannot be told to restart", (int)gauge->pid[0]);
    }
    await_ends(pages, gauge, round);
    count_ends(&pages->ends, round);
    pages_poll(pages, 0); /* pages that were answered meanwhile */
    pages_await_waiting(pages);
    results.waiting[round] = (double)(wire_now() - pages->ends.since) / MS;
    await_children(gauge);
    notified = wire_now();
    pages_notify(pages, -1);
    pages_await_answers(pages);
    results.told[round] = (double)(wire_now() - notified) / MS;
    pages_poll(pages, 0);
    pages_await_waiting(pages);
}

void restart_rounds(pages_t *pages, gauge_t *gauge, int rounds)
{
    if (rounds > ROUNDS_MAX) {
        wire_die("at most %d restarts", ROUNDS_MAX);
    }
    pages_reserve(pages, (size_t)pages->count * (size_t)rounds);
    for (results.rounds = 0; results.rounds < (size_t)rounds; results.rounds++) {
        restart(pages, gauge, results.rounds);
    }
}

static void print_series(const char *name, double *values)
{
    printf("%sMs: %.0f\n", name, gauge_rank(values, results.rounds, 0.5));
    printf("%sMaxMs: %.0f\n", name, gauge_rank(values, results.rounds, 1));
}

void restart_print(void)
{
    printf("Ended204: %d\nEnded200: %d\nEndedError: %d\nEndedClosed: %d\nEndedNever: %d\n", results.none, results.news,
           results.error, results.unasked, results.never);
    print_series("EndedMedian", results.ended_median);
    print_series("EndedLast", results.ended_last);
    print_series("OldGone", results.gone);
    print_series("AllWaiting", results.waiting);
    print_series("AllTold", results.told);
}
