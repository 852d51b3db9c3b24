/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file fixture.h
 * What tests of the shared core begin with: a segment of their own, and processes that die where the test wants it.
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

/** For what a check function returned: NULL, or the first thing that is wrong. */
#define CHECK_SOUND(first) fixture_sound(first, __LINE__, __FILE__)
void fixture_sound(const char *first, unsigned line, const char *file);

typedef struct fixture_t {
    apr_pool_t *pool;
    vault_segment_t *segment;
    vault_notifier_t *notifier;
    vault_heap_t *heap;       /* NULL when no bytes were asked for */
    vault_clients_t *clients; /* where there are pages */
} fixture_t;

/** Make a segment with a notifier and perhaps a heap. Ends the test when that fails. */
void fixture_begin(fixture_t *f, apr_uint32_t interests, apr_uint32_t slots, apr_uint64_t heap_bytes);

/** Give all of it back, the eventfds too. */
void fixture_end(fixture_t *f);

/** Zeroed memory that processes forked later share with this one; at most 64 KiB in all. */
void *fixture_shared(fixture_t *f, apr_size_t size);

/** Fork a process that runs `body(baton)` and then waits to be killed. Returns when it called fixture_ready() or came to its end. */
pid_t fixture_fork(void (*body)(void *baton), void *baton);

/** In a forked process: let fixture_fork() return; go on. */
void fixture_ready(void);

/** Kill a forked process, wherever it is, and wait until it is gone. */
void fixture_kill(pid_t pid);

/** Wait for a forked process to end by itself. @return its exit code; -1 it was killed by a signal */
int fixture_wait(pid_t pid);

/** Wait until the eventfd of a slot was rung, at most ten seconds, and take the rings. @return 1 rung */
int fixture_rung(fixture_t *f, unsigned slot);

/** Whether the slot was rung, without waiting. The rings stay. */
int fixture_is_rung(fixture_t *f, unsigned slot);

#endif
