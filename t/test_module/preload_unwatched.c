/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file preload_unwatched.c
 * Loaded before httpd's libraries (LD_PRELOAD): epoll refuses the client sockets of mod_vault, as when
 * fs.epoll.max_user_watches has been reached. Its registrations are recognized by their flags: only mod_vault
 * asks for one hang-up event.
 */
#include <dlfcn.h>
#include <errno.h>
#include <sys/epoll.h>

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
    int (*real)(int, int, int, struct epoll_event *);

    if (operation == EPOLL_CTL_ADD && (event->events & EPOLLRDHUP) && (event->events & EPOLLONESHOT)) {
        errno = ENOSPC;
        return -1;
    }
    *(void **)&real = dlsym(RTLD_NEXT, "epoll_ctl");
    return real(epoll, operation, fd, event);
}
