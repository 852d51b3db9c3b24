/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file vaultctl.h
 * Shared by the files of the command-line program.
 *
 *  vaultctl.c  the commands
 *  options.c   the options, one row each
 *  output.c    all output, cleaned
 *  handle.c    a libcurl handle with the options
 *  http.c      requests to the server
 *  visit.c     loads any URL as a browser does
 *  html.c      finds the script of a page in its HTML
 *  status.c    status, top
 *  cluster.c   status --cluster
 *  notify.c    notify
 *  pages.c     pages: the list, and one page
 *  cache.c     cache: what the output store keeps, and dropping it
 *  monitor.c   monitor
 *  check.c     check
 *  doctor.c    doctor: the page
 *  doctor_poll.c  doctor: its script, its polls, and the server that answers them
 *  conf.c      the parameters of a VaultFeed line
 *  watch.c     watch, unwatch, watched
 */
#ifndef VAULTCTL_H
#define VAULTCTL_H

#include <stdarg.h>

#include "apr_pools.h"
#include "apr_tables.h"

/** The exit status. */
enum {
    VAULTCTL_DONE = 0,
    /**< the answer is no: something is wrong, the database has refused, the user has not confirmed */
    VAULTCTL_FAILED = 1,
    VAULTCTL_USAGE = 2,  /**< the command was not understood */
    VAULTCTL_TROUBLE = 2 /**< or the server could not be reached */
};

/** The timeout of a request in seconds, unless --max-time sets another. */
#define VAULTCTL_TIMEOUT 10

/** Groups of options; each command takes some of them. */
enum {
    VAULTCTL_OF_SERVER = 1 << 0,   /**< its URL, and the login */
    VAULTCTL_OF_DATABASE = 1 << 1, /**< which one, and whether to ask for confirmation */
    VAULTCTL_OF_JSON = 1 << 2,
    VAULTCTL_OF_PAGES = 1 << 3, /**< a filter for pages */
    VAULTCTL_OF_MONITOR = 1 << 4,
    VAULTCTL_OF_TOP = 1 << 5,
    VAULTCTL_OF_ALL = 1 << 6,
    VAULTCTL_OF_CACHE = 1 << 7, /**< a filter for outputs */
    VAULTCTL_OF_STATUS = 1 << 8
};

typedef struct vaultctl_options_t {
    /* about the server */
    const char *url;             /**< --url, VAULTCTL_URL or the default; ends with a slash */
    int unsaid;                  /**< 1: url is the default, since no other was given */
    const char *user;            /**< NAME:PASSWORD; NULL: none */
    const char *netrc_file;      /**< NULL: ~/.netrc, if netrc */
    const char *cacert;          /**< NULL: those of the system */
    apr_array_header_t *headers; /**< of const char * */
    int netrc;
    int insecure;
    int timeout; /**< in seconds */
    /* about the output, and of single commands */
    int json;
    int top;              /**< status: live */
    int cluster;          /**< status: the servers of the cluster */
    int count;            /**< lines or screens; 0: no limit */
    int delay;            /**< seconds between two screens */
    const char *owner;    /**< NULL: any */
    const char *interest; /**< NULL: any */
    int waiting;          /**< pages whose poll is waiting */
    int idle;             /**< pages without a waiting poll */
    int quiet;
    const char *match; /**< text in the URLs of outputs; NULL: any */
    const char *sort;  /**< the order of outputs; NULL: the default */
    int limit;         /**< the most outputs; 0: the default */
    int all;           /**< drop all outputs */
    /* about the database */
    const char *file;        /**< -f; NULL: none */
    const char *feed;        /**< -n; NULL: the only one */
    apr_table_t *parameters; /**< key=value words */
    int yes;
    int dry_run;
} vaultctl_options_t;

/** A command. `words` are the arguments after the options, `count` of them. @return the exit status */
typedef int vaultctl_command_fn(const vaultctl_options_t *options, char *const *words, int count, apr_pool_t *pool);

/** Print a message on stderr, after the name of the program, cleaned as output.h describes. @return `status` */
int vaultctl_say(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void vaultctl_vsay(const char *fmt, va_list args) __attribute__((format(printf, 1, 0)));

/** Parse the options of these groups.
 * @param words  `count` of them; those that are not options are moved to the front
 * @return how many these are; -1: the error has been reported; -2: --help was given */
int vaultctl_options_read(vaultctl_options_t *options, unsigned groups, char **words, int count, apr_pool_t *pool);

/** Print the options of these groups, a line each. */
void vaultctl_options_print(unsigned groups);

/** Add the parameters of the VaultFeed line in a configuration file. Those of the command line override them.
 * @return NULL, or a sentence */
const char *vaultctl_conf_read(vaultctl_options_t *options, apr_pool_t *pool);

vaultctl_command_fn vaultctl_cache;
vaultctl_command_fn vaultctl_check;
vaultctl_command_fn vaultctl_cluster;
vaultctl_command_fn vaultctl_doctor;
vaultctl_command_fn vaultctl_notify;
vaultctl_command_fn vaultctl_pages;
vaultctl_command_fn vaultctl_status;
vaultctl_command_fn vaultctl_monitor;
vaultctl_command_fn vaultctl_top;
vaultctl_command_fn vaultctl_unwatch;
vaultctl_command_fn vaultctl_watch;
vaultctl_command_fn vaultctl_watched;

#endif
