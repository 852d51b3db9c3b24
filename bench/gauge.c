/* SPDX-License-Identifier: Apache-2.0 */
/* What a server costs, seen from outside, through /proc and the clocks of its processes: see gauge.h. */
#include "gauge.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "wire.h"

/* The parent of a process, or -1 when it is gone. Its name, field 2, may hold anything: count from the last bracket. */
static pid_t parent_of(const char *pid)
{
    char path[300], text[1024], *bracket;
    int parent = -1;
    size_t got;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    f = fopen(path, "re");
    if (f == NULL) {
        return -1;
    }
    got = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[got] = '\0';
    bracket = strrchr(text, ')');
    if (bracket == NULL || sscanf(bracket + 1, " %*c %d", &parent) != 1) {
        return -1;
    }
    return parent;
}

static int read_clock(clockid_t clock, uint64_t *ns)
{
    struct timespec t;

    if (clock_gettime(clock, &t) != 0) {
        return 0;
    }
    *ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    return 1;
}

/* utime and stime in /proc/PID/stat come in ticks of 10 ms; the process's CPU clock has nanoseconds. @return 0:
 * it has ended */
static int read_cpu(pid_t pid, uint64_t *ns)
{
    clockid_t clock;

    return clock_getcpuclockid(pid, &clock) == 0 && read_clock(clock, ns);
}

static void add(gauge_t *gauge, pid_t pid)
{
    if (gauge->count == GAUGE_PROCESSES_MAX) {
        wire_die("process %d has more than %d children", (int)gauge->pid[0], GAUGE_PROCESSES_MAX - 1);
    }
    gauge->pid[gauge->count] = pid;
    gauge->count += read_cpu(pid, &gauge->used[gauge->count]);
}

void gauge_open_any(gauge_t *gauge, pid_t parent)
{
    DIR *dir = opendir("/proc");
    struct dirent *entry;

    if (dir == NULL) {
        wire_die("/proc cannot be read");
    }
    gauge->count = 0;
    add(gauge, parent);
    while ((entry = readdir(dir)) != NULL) {
        if (!isdigit((unsigned char)entry->d_name[0]) || parent_of(entry->d_name) != parent) {
            continue;
        }
        add(gauge, atoi(entry->d_name));
    }
    closedir(dir);
    if (gauge->count == 0 || gauge->pid[0] != parent) {
        wire_die("process %d has ended", (int)parent);
    }
}

void gauge_open(gauge_t *gauge, pid_t parent)
{
    gauge_open_any(gauge, parent);
    if (gauge->count == 1) {
        wire_die("process %d has no children: not the parent of a running httpd", (int)parent);
    }
}

static int compare_pids(const void *a, const void *b)
{
    return (*(const pid_t *)a > *(const pid_t *)b) - (*(const pid_t *)a < *(const pid_t *)b);
}

int gauge_is_same(const gauge_t *gauge)
{
    gauge_t before = *gauge, now;

    gauge_open(&now, gauge->pid[0]);
    qsort(before.pid, (size_t)before.count, sizeof before.pid[0], compare_pids);
    qsort(now.pid, (size_t)now.count, sizeof now.pid[0], compare_pids);
    return now.count == before.count && memcmp(now.pid, before.pid, (size_t)now.count * sizeof now.pid[0]) == 0;
}

/* The number after `key` at the start of a line of a file in /proc/PID. */
static uint64_t proc_number(pid_t pid, const char *file, const char *key)
{
    char path[64], line[256];
    size_t length = strlen(key);
    uint64_t value = 0;
    int found = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    f = fopen(path, "re");
    while (f != NULL && !found && fgets(line, sizeof line, f) != NULL) {
        if (strncmp(line, key, length) == 0) {
            value = strtoull(line + length, NULL, 10);
            found = 1;
        }
    }
    if (f != NULL) {
        fclose(f);
    }
    if (!found) {
        wire_die("no \"%s\" in %s: has the process ended, or does it belong to another user?", key, path);
    }
    return value;
}

uint64_t gauge_memory(const gauge_t *gauge)
{
    uint64_t kilobytes = 0;

    for (int i = 0; i < gauge->count; i++) {
        kilobytes += proc_number(gauge->pid[i], "smaps_rollup", "Pss:");
    }
    return kilobytes * 1024;
}

int gauge_threads(const gauge_t *gauge)
{
    uint64_t threads = 0;

    for (int i = 0; i < gauge->count; i++) {
        threads += proc_number(gauge->pid[i], "status", "Threads:");
    }
    return (int)threads;
}

uint64_t gauge_cpu(const gauge_t *gauge)
{
    uint64_t sum = 0, one;

    for (int i = 0; i < gauge->count; i++) {
        if (!read_cpu(gauge->pid[i], &one)) {
            wire_die("process %d of the server has ended", (int)gauge->pid[i]);
        }
        sum += one;
    }
    return sum;
}

static uint64_t used_before(const gauge_t *before, pid_t pid)
{
    for (int i = 0; i < before->count; i++) {
        if (before->pid[i] == pid) {
            return before->used[i];
        }
    }
    return 0;
}

uint64_t gauge_cpu_since(const gauge_t *before)
{
    uint64_t sum = 0;
    gauge_t now;

    gauge_open_any(&now, before->pid[0]);
    for (int i = 0; i < now.count; i++) {
        sum += now.used[i] - used_before(before, now.pid[i]);
    }
    return sum;
}

uint64_t gauge_own_cpu(void)
{
    uint64_t own = 0;

    (void)read_clock(CLOCK_PROCESS_CPUTIME_ID, &own);
    return own;
}

static int compare_samples(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

double gauge_rank(double *samples, size_t count, double part)
{
    size_t rank;

    if (count == 0) {
        return 0;
    }
    qsort(samples, count, sizeof samples[0], compare_samples);
    rank = (size_t)ceil(part * (double)count);
    return samples[rank == 0 ? 0 : rank - 1];
}
