/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file preload_kill.c
 * Loaded in front of httpd's libraries (LD_PRELOAD): kills a child that writes to a server of databases, between its commit and the end of what it then does
 * for others. No hook lies in between; but what it says to that server and to other children comes by here.
 *
 * A statement with one of these numbers says when its writer is killed; a text would be written in another way to MariaDB.
 *
 *     7777777771   the server has answered that the transaction is committed: nobody else has heard of it
 *     7777777772   it is about to poke the tailer
 *     7777777773   it has poked the tailer
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

/* How a writer pokes the tailer (feeds/log/board.c), and a child wakes another one (slot.c): it writes so many bytes to an eventfd. */
#define POKE 8

typedef enum when_e { NEVER, COMMITTED, POKING, POKED } when_e;

static const char *const numbers[] = {[COMMITTED] = "7777777771", [POKING] = "7777777772", [POKED] = "7777777773"};

/* The call that the thread has in hand. */
static __thread struct {
    when_e when;
    int fd; /* on which it says COMMIT; 0: on none */
    int committed;
} call;

static int has(const void *bytes, size_t length, const char *text)
{
    return memmem(bytes, length, text, strlen(text)) != NULL;
}

static void end_if(when_e when)
{
    if (call.committed && call.when == when) {
        kill(getpid(), SIGKILL);
    }
}

ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
    ssize_t (*real)(int, const void *, size_t, int);

    *(void **)&real = dlsym(RTLD_NEXT, "send");
    for (when_e when = COMMITTED; when <= POKED; when++) {
        call.when = has(bytes, length, numbers[when]) ? when : call.when;
    }
    if (call.when != NEVER && !call.committed && has(bytes, length, "COMMIT")) {
        call.fd = fd;
    }
    return real(fd, bytes, length, flags);
}

ssize_t recv(int fd, void *bytes, size_t length, int flags)
{
    ssize_t (*real)(int, void *, size_t, int);
    ssize_t got;

    *(void **)&real = dlsym(RTLD_NEXT, "recv");
    got = real(fd, bytes, length, flags);
    if (got > 0 && fd == call.fd) {
        call.committed = 1;
        end_if(COMMITTED);
    }
    return got;
}

ssize_t write(int fd, const void *bytes, size_t length)
{
    ssize_t (*real)(int, const void *, size_t);
    ssize_t written;

    *(void **)&real = dlsym(RTLD_NEXT, "write");
    if (length == POKE) {
        end_if(POKING);
    }
    written = real(fd, bytes, length);
    if (length == POKE) {
        end_if(POKED);
    }
    return written;
}
