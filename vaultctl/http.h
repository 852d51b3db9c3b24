/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file http.h
 * Requests to the server by libcurl, over one connection that is kept open. One thread.
 */
#ifndef VAULTCTL_HTTP_H
#define VAULTCTL_HTTP_H

#include <jansson.h>

#include "vaultctl.h"

typedef struct vaultctl_http_t vaultctl_http_t;

/** If the server asks to retry later, vaultctl does so for at most so many seconds. */
#define VAULTCTL_RETRY_MAX 60

typedef struct vaultctl_answer_t {
    long status;     /* of HTTP */
    const char *url; /* of the request */
    char *body;      /* NUL-terminated */
    apr_size_t length;
    int retry_after; /* seconds, at most VAULTCTL_RETRY_MAX; 0: not set */
} vaultctl_answer_t;

/** Freed with the pool. If there is a user name without a password, asks for it on the terminal.
 * @return NULL: the error has been reported */
vaultctl_http_t *vaultctl_http_open(const vaultctl_options_t *options, apr_pool_t *pool);

/** Ask for a path below --url.
 * @param form     URL-encoded, for a POST; NULL: GET
 * @param seconds  the longest that the answer may take; 0: as --max-time says
 * @param answer   in `pool`
 * @return NULL: there is an answer, of whatever status; or why there is none, a sentence in `pool` */
const char *vaultctl_http_ask(vaultctl_http_t *http, vaultctl_answer_t *answer, const char *path, const char *form,
                              int seconds, apr_pool_t *pool);

/** Report the meaning of an unexpected answer. @return VAULTCTL_TROUBLE */
int vaultctl_http_say(const vaultctl_answer_t *answer);

/** The answer as JSON: all answers of mod_vault are objects. Their content is not trusted: a member may be
 * missing or of any type. jansson's accessors allow for that: for another type, and for NULL,
 * json_string_value() is NULL, json_integer_value() 0, json_object_get() NULL, and a json_..._foreach() ends at
 * once.
 * @return to be released by the caller; NULL: not an object */
json_t *vaultctl_http_object(const vaultctl_answer_t *answer);

/** The text of a string from an answer; "-" for other types. Never NULL. Print it with the functions of
 * output.h. */
const char *vaultctl_json_text(const json_t *string);

/** Send a request and parse the answer as vaultctl_http_object() does; reports anything but 200.
 * @param json  to be released by the caller; NULL unless VAULTCTL_DONE
 * @return VAULTCTL_DONE or VAULTCTL_TROUBLE */
int vaultctl_http_json(vaultctl_http_t *http, json_t **json, const char *path, const char *form, apr_pool_t *pool);

/** `text`, escaped for a query or a form. */
const char *vaultctl_http_escape(vaultctl_http_t *http, const char *text, apr_pool_t *pool);

#endif
