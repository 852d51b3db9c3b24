/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vault_feed_timed: the database feed, with a clock around what a save does. The linker puts the functions below in the place of
 * the feed's own (--wrap). A line for each save goes to the file that VAULT_BENCH_TIMES names, all times in microseconds:
 *
 *     SAVE COMMIT AFTER CPU NAMES    the whole call; its commit; what comes after that: the writer notifies, or waits until the
 *                                    tailer has; the CPU time of its own notifies (a page that wakes may take the writer's core);
 *                                    how many interests these named
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "database/api/write.h"
#include "database/rows/interests.h"
#include "sql/connection.h"

apr_status_t __real_sql_conn_commit(sql_call_t *c);
apr_status_t __wrap_sql_conn_commit(sql_call_t *c);
int __real_log_touched_notify(const log_touched_t *touched);
int __wrap_log_touched_notify(const log_touched_t *touched);
apr_status_t __real_database_save_body(sql_call_t *c, const char *table, json_t **rows);
apr_status_t __wrap_database_save_body(sql_call_t *c, const char *table, json_t **rows);

/* Of the save on this thread. */
static __thread double commit_us, committed_at, notifies_cpu_us;
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
static void keep(double save_us, double after_us)
{
    const char *path = getenv("VAULT_BENCH_TIMES");
    int fd = path != NULL ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;

    if (fd >= 0) {
        (void)dprintf(fd, "%.1f %.1f %.1f %.1f %u\n", save_us, commit_us, after_us, notifies_cpu_us, names);
        close(fd);
    }
}

apr_status_t __wrap_sql_conn_commit(sql_call_t *c)
{
    double begin = now_us();
    apr_status_t rv = __real_sql_conn_commit(c);

    committed_at = now_us();
    commit_us = committed_at - begin;
    return rv;
}

int __wrap_log_touched_notify(const log_touched_t *touched)
{
    double cpu = read_us(CLOCK_THREAD_CPUTIME_ID);
    int all = __real_log_touched_notify(touched);

    notifies_cpu_us = read_us(CLOCK_THREAD_CPUTIME_ID) - cpu;
    names = apr_hash_count(touched->names);
    return all;
}

apr_status_t __wrap_database_save_body(sql_call_t *c, const char *table, json_t **rows)
{
    double begin = now_us(), end;
    apr_status_t rv;

    notifies_cpu_us = 0;
    names = 0;
    rv = __real_database_save_body(c, table, rows);
    end = now_us();
    if (rv == APR_SUCCESS) {
        keep(end - begin, end - committed_at);
    }
    return rv;
}
