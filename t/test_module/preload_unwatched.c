/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file preload_unwatched.c
 * Loaded in front of httpd's libraries (LD_PRELOAD): the kernel watches no client's socket for mod_vault any more, as when
 * fs.epoll.max_user_watches has been reached. What others watch it knows by its flags: only mod_vault wants to hear of a hang-up once.
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
