/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file file_notify.h
 * Being told by the kernel (inotify) that a file is written to: how the tailer of a database without a server sleeps
 * while there are no writes, and at once reads what another program writes.
 *
 * Without notifications (no inotify, no instance left for the user, no such file yet) the tailer polls by the
 * clock.
 */
#ifndef LOG_FILE_NOTIFY_H
#define LOG_FILE_NOTIFY_H

/** Of one thread. */
typedef struct log_file_notify_t {
    int fd;   /**< readable when the kernel has notified; -1: none */
    int file; /**< what inotify calls the file; -1: none */
} log_file_notify_t;

void log_file_notify_open(log_file_notify_t *file_notify);
void log_file_notify_close(log_file_notify_t *file_notify);

/** From now on, tell of what is done to the file that has this name now, in place of the one before, and forget what
 * was told. Call it before the file is read.
 * @return 1: the descriptor tells; 0: nothing does */
int log_file_notify_listen(log_file_notify_t *file_notify, const char *file);

#endif
