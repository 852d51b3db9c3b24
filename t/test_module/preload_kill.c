/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file preload_kill.c
 * Loaded before httpd's libraries (LD_PRELOAD): kills a child that writes to a database server between its
 * commit and the end of its work for others, or the tailer between its read and the notify. There is no hook at
 * these points, but the calls to that server and to other children pass through here.
 *
 * A statement that contains one of these numbers selects when its writer is killed; a text would be escaped
 * differently for MariaDB.
 *
 *     7777777771   the server has confirmed the commit, and no other process knows of it
 *     7777777772   before it pokes the tailer
 *     7777777773   after it has poked the tailer
 *
 * These kill the tailer, once: the file named by VAULT_KILL_ONCE is removed then.
 *
 *     7777777774   it has received the change from the server
 *     7777777775   it has published the change, and is about to wake another child
 *
 * The process is also killed, once, that is about to wake a child while the file exists that VAULT_KILL_WAKING names.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

/* The size of the writes to an eventfd by which a writer pokes the tailer (feeds/log/shared.c) and a child
 * wakes another one (slot.c). */
#define POKE 8

typedef enum when_e { NEVER, COMMITTED, POKING, POKED, READ, WAKING } when_e;

static const char *const numbers[] = {[COMMITTED] = "7777777771",
                                      [POKING] = "7777777772",
                                      [POKED] = "7777777773",
                                      [READ] = "7777777774",
                                      [WAKING] = "7777777775"};

/* The current call or read of the thread. */
static __thread struct {
    when_e when;
    int fd; /* the descriptor of its COMMIT; 0: none */
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

static void end_once(const char *variable)
{
    const char *file = getenv(variable);

    if (file != NULL && unlink(file) == 0) {
        kill(getpid(), SIGKILL);
    }
}

static void end_once_if(when_e when)
{
    if (call.when == when) {
        end_once("VAULT_KILL_ONCE");
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
        end_once("VAULT_KILL_WAKING");
    }
    written = real(fd, bytes, length);
    if (length == POKE) {
        end_if(POKED);
    }
    return written;
}
