/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vault_feed_timed: the database feed, with a clock around what a save does. The linker puts the functions below in the place of
 * the feed's own (--wrap). A line for each save goes to the file that VAULT_BENCH_TIMES names, all times in microseconds:
 *
 *     SAVE COMMIT NOTIFIES CPU NAMES    the whole call; its commit; all notifies, and the CPU time of these (a page that wakes
 *                                       may take the writer's core); how many interests they named
 *
 * With look=0 only: a watcher notifies, too.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "connection.h"
#include "interests.h"
#include "write.h"

apr_status_t __real_sql_conn_commit(sql_call_t *c);
apr_status_t __wrap_sql_conn_commit(sql_call_t *c);
int __real_database_touched_notify(const database_touched_t *touched);
int __wrap_database_touched_notify(const database_touched_t *touched);
apr_status_t __real_database_save_body(sql_call_t *c, const char *table, json_t **rows);
apr_status_t __wrap_database_save_body(sql_call_t *c, const char *table, json_t **rows);

/* Of the save on this thread. */
static __thread double commit_us, notifies_us, notifies_cpu_us;
static __thread unsigned names;

static double read_us(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double now_us(void)
{
    return read_us(CLOCK_MONOTONIC);
}

/* One write(2) to a file that everybody appends to: lines of several threads and children do not mix. */
static void keep(double save_us)
{
    const char *path = getenv("VAULT_BENCH_TIMES");
    int fd = path != NULL ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;

    if (fd >= 0) {
        (void)dprintf(fd, "%.1f %.1f %.1f %.1f %u\n", save_us, commit_us, notifies_us, notifies_cpu_us, names);
        close(fd);
    }
}

apr_status_t __wrap_sql_conn_commit(sql_call_t *c)
{
    double begin = now_us();
    apr_status_t rv = __real_sql_conn_commit(c);

    commit_us = now_us() - begin;
    return rv;
}

int __wrap_database_touched_notify(const database_touched_t *touched)
{
    double begin = now_us(), cpu = read_us(CLOCK_THREAD_CPUTIME_ID);

    int all = __real_database_touched_notify(touched);

    notifies_cpu_us = read_us(CLOCK_THREAD_CPUTIME_ID) - cpu;
    notifies_us = now_us() - begin;
    names = apr_hash_count(touched->names);
    return all;
}

apr_status_t __wrap_database_save_body(sql_call_t *c, const char *table, json_t **rows)
{
    double begin = now_us();
    apr_status_t rv = __real_database_save_body(c, table, rows);

    if (rv == APR_SUCCESS) {
        keep(now_us() - begin);
    }
    return rv;
}
