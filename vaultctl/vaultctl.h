/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file vaultctl.h
 * The command-line program: what its files share.
 *
 * vaultctl.c  commands and options
 * conf.c      the parameters of a VaultFeed line
 * watch.c     watch, unwatch, watched
 */
#ifndef VAULTCTL_H
#define VAULTCTL_H

#include "apr_pools.h"
#include "apr_tables.h"

/** What the program exits with. */
enum {
    VAULTCTL_DONE = 0,
    VAULTCTL_FAILED = 1, /**< or somebody said no: nothing was done */
    VAULTCTL_USAGE = 2
};

typedef struct vaultctl_options_t {
    const char *file;        /**< -f; NULL: none */
    const char *feed;        /**< -n; NULL: the only one */
    apr_table_t *parameters; /**< key=value words */
    int yes;
    int dry_run;
} vaultctl_options_t;

/** Say something on stderr, after the program's name. @return `status` */
int vaultctl_say(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Add the parameters of the VaultFeed line of a configuration file to those of the command line, which count first.
 * @return NULL, or a sentence */
const char *vaultctl_conf_read(vaultctl_options_t *options, apr_pool_t *pool);

/** Commands. `tables` are names, `count` of them. @return what to exit with */
int vaultctl_watch(const vaultctl_options_t *options, char *const *tables, int count, apr_pool_t *pool);
int vaultctl_unwatch(const vaultctl_options_t *options, char *const *tables, int count, apr_pool_t *pool);
int vaultctl_watched(const vaultctl_options_t *options, char *const *tables, int count, apr_pool_t *pool);

#endif
