/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file knock.h
 * Being told by the kernel (inotify) that a file is written to: how the watcher of a database without a server sleeps while nobody
 * writes, and sees what another program writes at once.
 *
 * Who writes is not told, nor when a commit can be read. So that the watcher is not woken for what the feed itself writes and
 * announces, all children share one descriptor, and a writer hushes it for its commit. It has the database's only lock then, so
 * nobody else's write is hushed; what comes between the end of the lock and that of the hush shows in the footprint (footprint.h),
 * for which the writer looks when it has ended the hush, and then rings. A child that is killed in between leaves the watcher
 * hushed until that looks by the clock; the parent has all pages look when a child dies.
 *
 * Where nobody is told (no inotify, or the user has used up its instances; no such file yet) the watcher looks by the clock.
 */
#ifndef DATABASE_KNOCK_H
#define DATABASE_KNOCK_H

#include "apr_pools.h"

/** Of the thread that watches. */
typedef struct database_knock_t {
    int fd;   /**< readable when somebody has knocked; -1: none */
    int file; /**< what inotify calls the file; -1: none */
} database_knock_t;

/** In the parent, for all children; closed with `pconf`. @return a descriptor; -1: nobody will be told */
int database_knock_open(apr_pool_t *pconf);

/** From now on, tell of what is done to the file that has this name now, in place of the one before, and forget what was told.
 * Call it before looking at the file.
 * @return 1: the descriptor tells; 0: nobody does */
int database_knock_listen(database_knock_t *knock, const char *file);

/** Do not tell that this file is written. Any thread of any child that lets nobody else write. @return 0: it may be told all the same */
int database_knock_hush(int fd, const char *file);
/** End that. @return what inotify calls the file; -1: there is none */
int database_knock_end_hush(int fd, const char *file);
/** Tell now, as if it were written. @param watch  of database_knock_end_hush */
void database_knock_ring(int fd, int watch);

#endif
