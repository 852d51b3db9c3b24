/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file preload_slow.c
 * Loaded before the libraries of the sqlite3 program (LD_PRELOAD): delays the return of each write to a WAL
 * file, as on a busy machine. A committed transaction can be read only when the last of its writes has
 * returned.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

typedef ssize_t (*write_fn)(int, const void *, size_t, off_t);

static int is_wal(int fd)
{
    char link[64], path[1024];
    ssize_t length;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    length = readlink(link, path, sizeof(path));
    return length > 4 && strncmp(path + length - 4, "-wal", 4) == 0;
}

static ssize_t slowly(const char *name, int fd, const void *bytes, size_t count, off_t at)
{
    const struct timespec while_others_run = {.tv_nsec = 100000000};
    write_fn real;
    ssize_t written;

    *(void **)&real = dlsym(RTLD_NEXT, name);
    written = real(fd, bytes, count, at);
    if (is_wal(fd)) {
        nanosleep(&while_others_run, NULL);
    }
    return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at)
{
    return slowly("pwrite", fd, bytes, count, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t at)
{
    return slowly("pwrite64", fd, bytes, count, at);
}
