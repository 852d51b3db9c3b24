/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file preload_journal.c
 * Loaded before httpd's libraries (LD_PRELOAD): records when a process closes a connection to MariaDB, and when
 * it ends the client library, which all its feeds share.
 *
 * For each event, a line with the process id and "close" or "end" is written to the file named by
 * VAULT_TEST_JOURNAL.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef void close_fn(void *mysql);
typedef void end_fn(void);

void mysql_close(void *mysql);
void mysql_server_end(void);

static void write_down(const char *what)
{
    const char *path = getenv("VAULT_TEST_JOURNAL");
    int file = path ? open(path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644) : -1;

    if (file >= 0) {
        dprintf(file, "%ld %s\n", (long)getpid(), what);
        close(file);
    }
}

void mysql_close(void *mysql)
{
    close_fn *real;

    *(void **)&real = dlsym(RTLD_NEXT, "mysql_close");
    write_down("close");
    real(mysql);
}

void mysql_server_end(void)
{
    end_fn *real;

    *(void **)&real = dlsym(RTLD_NEXT, "mysql_server_end");
    write_down("end");
    real();
}
