/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file handle.h
 * A handle of libcurl with what the options say of the server: certificates, and who asks. For http.c and visit.c.
 */
#ifndef VAULTCTL_HANDLE_H
#define VAULTCTL_HANDLE_H

#include <curl/curl.h>

#include "vaultctl.h"

/** A body while it comes in. `data` is of malloc(), NUL-terminated, NULL before the first byte. */
typedef struct vaultctl_body_t {
    char *data;
    apr_size_t length, room;
    apr_size_t most; /* const; past it the transfer ends with CURLE_WRITE_ERROR */
} vaultctl_body_t;

/** A handle that asks http: and https: alone, writes to `body`, and does not log in.
 * @return NULL: said what is wrong; else the caller ends it by vaultctl_handle_close() */
CURL *vaultctl_handle_open(const vaultctl_options_t *options, vaultctl_body_t *body);

/** Also frees the body. */
void vaultctl_handle_close(CURL *curl, vaultctl_body_t *body);

/** Who logs in, as NAME:PASSWORD: a password that was not given is asked for on the terminal.
 * @param user  NULL where nobody logs in by name
 * @return whether there is a password; if not, said so */
int vaultctl_handle_user(const vaultctl_options_t *options, const char **user, apr_pool_t *pool);

/** Let the handle log in from here on as `user` or netrc says, or as nobody if `options` is NULL. */
void vaultctl_handle_login(CURL *curl, const vaultctl_options_t *options, const char *user);

#endif
