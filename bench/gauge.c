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

void gauge_open(gauge_t *gauge, pid_t parent)
{
    DIR *dir = opendir("/proc");
    struct dirent *entry;

    if (dir == NULL) {
        wire_die("/proc cannot be read");
    }
    gauge->pid[0] = parent;
    gauge->count = 1;
    while ((entry = readdir(dir)) != NULL) {
        if (!isdigit((unsigned char)entry->d_name[0]) || parent_of(entry->d_name) != parent) {
            continue;
        }
        if (gauge->count == GAUGE_PROCESSES_MAX) {
            wire_die("process %d has more than %d children", (int)parent, GAUGE_PROCESSES_MAX - 1);
        }
        gauge->pid[gauge->count++] = atoi(entry->d_name);
    }
    closedir(dir);
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

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    if (clock_gettime(clock, &t) != 0) {
        wire_die("the CPU clock of a process of the server cannot be read: it has ended");
    }
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* utime and stime in /proc/PID/stat come in ticks of 10 ms; the process's CPU clock has nanoseconds. */
uint64_t gauge_cpu(const gauge_t *gauge)
{
    uint64_t sum = 0;
    clockid_t clock;

    for (int i = 0; i < gauge->count; i++) {
        if (clock_getcpuclockid(gauge->pid[i], &clock) != 0) {
            wire_die("process %d of the server has ended", (int)gauge->pid[i]);
        }
        sum += clock_ns(clock);
    }
    return sum;
}

uint64_t gauge_own_cpu(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
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
