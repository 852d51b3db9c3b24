/* SPDX-License-Identifier: Apache-2.0 */
/* An inotify with one file: see knock.h. */
#include "knock.h"

#include <stdint.h>
#include <sys/inotify.h>
#include <unistd.h>

/* It is the file of that name no more. */
#define IS_ANOTHER (IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF)
/* Likewise; or written or cut. */
#define DONE_TO_IT (IN_MODIFY | IS_ANOTHER)

static apr_status_t close_it(void *fd)
{
    close((int)(intptr_t)fd);
    return APR_SUCCESS;
}

int database_knock_open(apr_pool_t *pconf)
{
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

    if (fd >= 0) {
        apr_pool_cleanup_register(pconf, (void *)(intptr_t)fd, close_it, apr_pool_cleanup_null);
    }
    return fd;
}

static void forget_told(const database_knock_t *knock)
{
    struct inotify_event events[64];

    while (read(knock->fd, events, sizeof(events)) > 0) {
    }
}

int database_knock_listen(database_knock_t *knock, const char *file)
{
    int was = knock->file;

    if (knock->fd < 0) {
        return 0;
    }
    /* The same number as long as it is the same file. */
    knock->file = inotify_add_watch(knock->fd, file, DONE_TO_IT);
    if (was >= 0 && was != knock->file) {
        (void)inotify_rm_watch(knock->fd, was);
    }
    forget_told(knock);
    return knock->file >= 0;
}

int database_knock_hush(int fd, const char *file)
{
    return fd >= 0 && inotify_add_watch(fd, file, IS_ANOTHER) >= 0;
}

int database_knock_end_hush(int fd, const char *file)
{
    return inotify_add_watch(fd, file, DONE_TO_IT);
}

/* That a file is watched no more is told, too, and who listens again watches it again. */
void database_knock_ring(int fd, int watch)
{
    (void)inotify_rm_watch(fd, watch);
}
