/* SPDX-License-Identifier: Apache-2.0 */
/* An inotify with one file: see knock.h. */
#include "knock.h"

#include <sys/inotify.h>
#include <unistd.h>

/* It is written or cut, or it is the file of that name no more. */
#define DONE_TO_IT (IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF)

void database_knock_open(database_knock_t *knock)
{
    knock->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    knock->file = -1;
}

void database_knock_close(database_knock_t *knock)
{
    if (knock->fd >= 0) {
        close(knock->fd);
    }
    knock->fd = -1;
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
