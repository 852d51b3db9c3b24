/* SPDX-License-Identifier: Apache-2.0 */
/* Watches one file with inotify: see file_notify.h. */
#include "log/file_notify.h"

#include <sys/inotify.h>
#include <unistd.h>

/* The file is written or truncated, or it no longer has this name. */
#define DONE_TO_IT (IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF)

void log_file_notify_open(log_file_notify_t *file_notify)
{
    file_notify->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    file_notify->file = -1;
}

void log_file_notify_close(log_file_notify_t *file_notify)
{
    if (file_notify->fd >= 0) {
        close(file_notify->fd);
    }
    file_notify->fd = -1;
}

static void forget_told(const log_file_notify_t *file_notify)
{
    struct inotify_event events[64];

    while (read(file_notify->fd, events, sizeof(events)) > 0) {
    }
}

int log_file_notify_listen(log_file_notify_t *file_notify, const char *file)
{
    int was = file_notify->file;

    if (file_notify->fd < 0) {
        return 0;
    }
    /* inotify returns the same number as long as it is the same file. */
    file_notify->file = inotify_add_watch(file_notify->fd, file, DONE_TO_IT);
    if (was >= 0 && was != file_notify->file) {
        (void)inotify_rm_watch(file_notify->fd, was);
    }
    forget_told(file_notify);
    return file_notify->file >= 0;
}
