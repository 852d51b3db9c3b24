/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file handle.h
 * A libcurl handle with the options about the server: certificates and login. For http.c and visit.c.
 */
#ifndef VAULTCTL_HANDLE_H
#define VAULTCTL_HANDLE_H

#include <curl/curl.h>

#include "vaultctl.h"

/** A body that is being received. `data` comes from malloc(), is NUL-terminated, and is NULL before the first
 * byte. */
typedef struct vaultctl_body_t {
    char *data;
    apr_size_t length, room;
    apr_size_t most; /* const; the transfer of a longer body ends with CURLE_WRITE_ERROR */
} vaultctl_body_t;

/** A handle for http: and https: only, which writes to `body` and does not log in.
 * @return to be closed with vaultctl_handle_close(); NULL: the error has been reported */
CURL *vaultctl_handle_open(const vaultctl_options_t *options, vaultctl_body_t *body);

/** Close the handle and free the body. */
void vaultctl_handle_close(CURL *curl, vaultctl_body_t *body);

/** The login as NAME:PASSWORD; asks on the terminal for a password that was not given.
 * @param user  NULL: no login by name
 * @return 1; 0: no password was given, which has been reported */
int vaultctl_handle_user(const vaultctl_options_t *options, const char **user, apr_pool_t *pool);

/** Let the handle log in as `user` or by netrc from here on; if `options` is NULL, without a login. */
void vaultctl_handle_login(CURL *curl, const vaultctl_options_t *options, const char *user);

#endif
