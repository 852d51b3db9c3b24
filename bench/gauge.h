/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file gauge.h
 * What a server costs, seen from outside: memory and CPU time of all its processes; and the ranks of samples.
 */
#ifndef VAULT_BENCH_GAUGE_H
#define VAULT_BENCH_GAUGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GAUGE_PROCESSES_MAX 64

typedef struct gauge_t {
    pid_t pid[GAUGE_PROCESSES_MAX];     /**< the parent first, then its children */
    uint64_t used[GAUGE_PROCESSES_MAX]; /**< their CPU time when they were found, in nanoseconds */
    int count;
} gauge_t;

/** Find the processes of the server whose parent process is `parent`. Called once they have all started. */
void gauge_open(gauge_t *gauge, pid_t parent);

/** The same for the server of a database, which may be a single process, and may start and end others at any time. */
void gauge_open_any(gauge_t *gauge, pid_t parent);

/** Whether the processes are still the same ones: a child that died took its CPU time along. */
int gauge_is_same(const gauge_t *gauge);

/** The sum of the proportional set sizes, in bytes. What the kernel keeps for sockets and events is not in it. */
uint64_t gauge_memory(const gauge_t *gauge);

/** The CPU time used so far, user and system, in nanoseconds, by all threads that live or lived. */
uint64_t gauge_cpu(const gauge_t *gauge);

/** The CPU time used since `before` was opened by the processes that there are now: those that came since, too,
 * but not those that ended, as a database's own helpers do now and then. */
uint64_t gauge_cpu_since(const gauge_t *before);

/** The CPU time of this program so far, in nanoseconds. */
uint64_t gauge_own_cpu(void);

/** The threads of all processes. */
int gauge_threads(const gauge_t *gauge);

/** Sort, then the value at `part` (0..1) by nearest rank. `count` 0: 0. */
double gauge_rank(double *samples, size_t count, double part);

#endif
