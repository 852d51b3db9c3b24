/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file preload_kill.c
 * Loaded in front of httpd's libraries (LD_PRELOAD): kills a child that writes to a server of databases, between its commit and the end of what it
 * then does for others, or the tailer, between what it reads and the notify. No hook lies in between; but what they say to that server and to other
 * children comes by here.
 *
 * A statement with one of these numbers says when its writer is killed; a text would be written in another way to MariaDB.
 *
 *     7777777771   the server has answered that the transaction is committed: nobody else has heard of it
 *     7777777772   it is about to poke the tailer
 *     7777777773   it has poked the tailer
 *
 * With these it is the tailer that is killed, once: when it is, the file that VAULT_KILL_ONCE names is gone.
 *
 *     7777777774   it has the answer of the server with the change
 *     7777777775   it has published the change, and is about to wake another child
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

/* How a writer pokes the tailer (feeds/log/shared.c), and a child wakes another one (slot.c): it writes so many bytes to an eventfd. */
#define POKE 8

typedef enum when_e { NEVER, COMMITTED, POKING, POKED, READ, WAKING } when_e;

static const char *const numbers[] = {[COMMITTED] = "7777777771",
                                      [POKING] = "7777777772",
                                      [POKED] = "7777777773",
                                      [READ] = "7777777774",
                                      [WAKING] = "7777777775"};

/* The call, or the read, that the thread has in hand. */
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

static void end_once_if(when_e when)
{
    const char *file = getenv("VAULT_KILL_ONCE");

    if (call.when == when && file != NULL && unlink(file) == 0) {
        kill(getpid(), SIGKILL);
    }
}

static void find(when_e first, when_e last, const void *bytes, size_t length)
{
    for (when_e when = first; when <= last; when++) {
        call.when = has(bytes, length, numbers[when]) ? when : call.when;
    }
}

ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
    ssize_t (*real)(int, const void *, size_t, int);

    *(void **)&real = dlsym(RTLD_NEXT, "send");
    find(COMMITTED, POKED, bytes, length);
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
    if (got > 0) {
        find(READ, WAKING, bytes, (size_t)got);
        end_once_if(READ);
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
        end_once_if(WAKING);
    }
    written = real(fd, bytes, length);
    if (length == POKE) {
        end_if(POKED);
    }
    return written;
}
