/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file fixture.c
 * The fixture of tests of the core: a segment, and processes that die at a chosen point.
 */
#include "fixture.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "qos/qos.h"

#define SHARED_BYTES (64 * 1024)
#define PATIENCE_MS 10000
#define POINTS 24

static int ready_fd = -1; /* in a forked process: where to report that it is ready */

void fixture_sound(const char *first, unsigned line, const char *file)
{
    CU_assertImplementation(first ? CU_FALSE : CU_TRUE, line, first ? first : "sound", file, "", CU_FALSE);
}

void fixture_begin(fixture_t *f, apr_uint32_t interests, apr_uint32_t slots, apr_uint64_t heap_bytes)
{
    vault_limits_t limits = {0, interests, 1, slots, 0};

    memset(f, 0, sizeof(*f));
    limits.size = vault_notifier_space(&limits) + heap_bytes + SHARED_BYTES;
    limits.size += vault_qos_space(&limits);
    CU_ASSERT_FATAL(apr_pool_create(&f->pool, NULL) == APR_SUCCESS);
    CU_ASSERT_FATAL(vault_segment_create(&f->segment, &limits, f->pool) == APR_SUCCESS);
    CU_ASSERT_FATAL(vault_notifier_create(&f->notifier, f->segment, f->pool) == APR_SUCCESS);
    if (heap_bytes) {
        CU_ASSERT_FATAL(vault_heap_create(&f->heap, f->segment, heap_bytes, f->pool) == APR_SUCCESS);
    }
}

void fixture_end(fixture_t *f)
{
    unsigned s;

    for (s = 1; s <= vault_slot_last(f->notifier); s++) {
        close(vault_slot_fd(f->notifier, s));
    }
    apr_pool_destroy(f->pool);
    memset(f, 0, sizeof(*f));
}

void *fixture_shared(fixture_t *f, apr_size_t size)
{
    void *memory = vault_segment_at(f->segment, vault_segment_carve(f->segment, size), size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
    return memory;
}

void fixture_ready(void)
{
    close(ready_fd);
}

/* @return only in a parent */
pid_t fixture_fork(void (*body)(void *baton), void *baton)
{
    int fds[2];
    char nothing;
    pid_t pid;

    CU_ASSERT_FATAL(pipe(fds) == 0);
    pid = fork();
    CU_ASSERT_FATAL(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(fds[0]);
        ready_fd = fds[1];
        body(baton);
        close(fds[1]);
        for (;;) {
            pause();
        }
    }
    close(fds[1]);
    while (read(fds[0], &nothing, 1) < 0) {
    }
    close(fds[0]);
    return pid;
}

void fixture_kill(pid_t pid)
{
    CU_ASSERT(kill(pid, SIGKILL) == 0);
    CU_ASSERT(waitpid(pid, NULL, 0) == pid);
}

int fixture_wait(pid_t pid)
{
    int status = 0;

    CU_ASSERT(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

long fixture_step(void (*call)(void *baton), void *baton, long instructions)
{
    pid_t pid = fork();
    long done = 0;
    int status;

    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        call(baton);
        raise(SIGSTOP);
        _exit(0);
    }
    CU_ASSERT_FATAL(pid > 0 && waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
    while (done != instructions && ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0 && waitpid(pid, &status, 0) == pid &&
           WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP) {
        done++;
    }
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return done;
}

long fixture_step_points(long total, long steps)
{
    const char *wanted = getenv("VAULT_KILL_POINTS");
    long points = wanted ? atol(wanted) : POINTS;

    if (!wanted && points * total / 2 > steps) {
        points = steps * 2 / total;
    }
    return points < 1 ? 1 : points < total ? points : total;
}

static int poll_slot(fixture_t *f, unsigned slot, int timeout)
{
    struct pollfd p = {vault_slot_fd(f->notifier, slot), POLLIN, 0};

    return poll(&p, 1, timeout) == 1;
}

int fixture_rung(fixture_t *f, unsigned slot)
{
    apr_uint64_t rings;

    return poll_slot(f, slot, PATIENCE_MS) &&
           read(vault_slot_fd(f->notifier, slot), &rings, sizeof(rings)) == sizeof(rings);
}

int fixture_is_rung(fixture_t *f, unsigned slot)
{
    return poll_slot(f, slot, 0);
}
