/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file file_notify.h
 * Notifications of the kernel (inotify) that a file is written to. With these the tailer of a database without a server
 * sleeps while there are no writes, and immediately reads what another program writes.
 *
 * If there are no notifications (no inotify, no inotify instance left for the user, no such file yet), the tailer polls
 * at intervals.
 */
#ifndef LOG_FILE_NOTIFY_H
#define LOG_FILE_NOTIFY_H

/** One thread uses it. */
typedef struct log_file_notify_t {
    int fd;   /**< readable when the kernel has notified; -1: none */
    int file; /**< inotify's number of the file; -1: none */
} log_file_notify_t;

void log_file_notify_open(log_file_notify_t *file_notify);
void log_file_notify_close(log_file_notify_t *file_notify);

/** Watch the file that has this name now in place of the previous one, and drop the notifications that have arrived.
 * Call it before the file is read.
 * @return 1: the descriptor will be readable after a write; 0: there are no notifications */
int log_file_notify_listen(log_file_notify_t *file_notify, const char *file);

#endif
