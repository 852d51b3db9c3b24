/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file fixture.h
 * The fixture of tests of the core: a segment, and processes that die at a chosen point.
 */
#ifndef VAULT_FIXTURE_H
#define VAULT_FIXTURE_H

#include <CUnit/CUnit.h>
#include <sys/types.h>

#include "notify/slot.h"
#include "shm/client_table.h"
#include "shm/heap.h"

/** As CU_ASSERT, with the sentence of a row that says why. */
#define CHECK_ROW(condition, why)                                                                                      \
    CU_assertImplementation((condition) ? CU_TRUE : CU_FALSE, __LINE__, why, __FILE__, "", CU_FALSE)

/** For the result of a check function: NULL, or the first inconsistency. */
#define CHECK_SOUND(first) fixture_sound(first, __LINE__, __FILE__)
void fixture_sound(const char *first, unsigned line, const char *file);

typedef struct fixture_t {
    apr_pool_t *pool;
    vault_segment_t *segment;
    vault_notifier_t *notifier;
    vault_heap_t *heap;       /* NULL without a heap */
    vault_clients_t *clients; /* if there are pages */
} fixture_t;

/** Create a segment with a notifier and, if asked for, a heap. Ends the test if that fails. */
void fixture_begin(fixture_t *f, apr_uint32_t interests, apr_uint32_t slots, apr_uint64_t heap_bytes);

/** Free everything, the eventfds included. */
void fixture_end(fixture_t *f);

/** Zeroed memory shared with processes that are forked later; at most 64 KiB in total. */
void *fixture_shared(fixture_t *f, apr_size_t size);

/** Fork a process that runs `body(baton)` and then waits to be killed. Returns when it has called
 * fixture_ready() or has ended. */
pid_t fixture_fork(void (*body)(void *baton), void *baton);

/** In a forked process: let fixture_fork() return, and continue. */
void fixture_ready(void);

/** Kill a forked process at any point, and wait until it has ended. */
void fixture_kill(pid_t pid);

/** Wait until a forked process ends by itself. @return its exit code; -1: it was killed by a signal */
int fixture_wait(pid_t pid);

/** Run `call(baton)` in a process of its own, which is killed after that many instructions; 0: before the first one.
 * @return how many it ran: fewer if the call ended before; 0 also: this program may not trace a process */
long fixture_step(void (*call)(void *baton), void *baton, long instructions);

/** Of a longer call only so many instructions are stepped: the thread sanitizer makes calls ten times as long. */
#define FIXTURE_STEPS_MOST 30000

/** At how many points a test kills within a call of `total` instructions: 24, or fewer if that takes more than `steps`
 * in all. VAULT_KILL_POINTS in the environment says another number. */
long fixture_step_points(long total, long steps);

/** Wait at most ten seconds until the eventfd of a slot is readable, and read it. @return 1: it was */
int fixture_rung(fixture_t *f, unsigned slot);

/** Is the eventfd of the slot readable? Does not wait, and does not read it. */
int fixture_is_rung(fixture_t *f, unsigned slot);

#endif
