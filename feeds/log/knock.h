/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file knock.h
 * Being told by the kernel (inotify) that a file is written to: how the tailer of a database without a server sleeps
 * while nobody writes, and sees what another program writes at once.
 *
 * Where nobody is told (no inotify, or the user has used up its instances; no such file yet) the tailer looks by the
 * clock.
 */
#ifndef DATABASE_KNOCK_H
#define DATABASE_KNOCK_H

/** Of one thread. */
typedef struct database_knock_t {
    int fd;   /**< readable when somebody has knocked; -1: none */
    int file; /**< what inotify calls the file; -1: none */
} database_knock_t;

void database_knock_open(database_knock_t *knock);
void database_knock_close(database_knock_t *knock);

/** From now on, tell of what is done to the file that has this name now, in place of the one before, and forget what
 * was told. Call it before looking at the file.
 * @return 1: the descriptor tells; 0: nobody does */
int database_knock_listen(database_knock_t *knock, const char *file);

#endif
