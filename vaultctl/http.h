/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file http.h
 * Asks the server, by libcurl. One connection, kept from question to question; one thread.
 */
#ifndef VAULTCTL_HTTP_H
#define VAULTCTL_HTTP_H

#include <jansson.h>

#include "vaultctl.h"

typedef struct vaultctl_http_t vaultctl_http_t;

/** A server that says to try again later is obeyed for so many seconds. */
#define VAULTCTL_RETRY_MAX 60

typedef struct vaultctl_answer_t {
    long status;     /* of HTTP */
    const char *url; /* that was asked */
    char *body;      /* NUL-terminated */
    apr_size_t length;
    int retry_after; /* seconds, at most VAULTCTL_RETRY_MAX whatever the server says; 0: not said */
} vaultctl_answer_t;

/** Goes with the pool. Asks for the password on the terminal if there is a name without one.
 * @return NULL: said what is wrong */
vaultctl_http_t *vaultctl_http_open(const vaultctl_options_t *options, apr_pool_t *pool);

/** Ask for a path below --url.
 * @param form     URL-encoded, for a POST; NULL: GET
 * @param seconds  the longest that the answer may take; 0: as --max-time says
 * @param answer   in `pool`
 * @return NULL: there is an answer, of whatever status; or why there is none, a sentence in `pool` */
const char *vaultctl_http_ask(vaultctl_http_t *http, vaultctl_answer_t *answer, const char *path, const char *form,
                              int seconds, apr_pool_t *pool);

/** Say what an answer means that was not the one wanted. @return VAULTCTL_TROUBLE */
int vaultctl_http_say(const vaultctl_answer_t *answer);

/** The answer as JSON: all that mod_vault answers are objects. What is in them is whatever a server wrote: a member may be missing or
 * of any type. jansson's accessors take that: of another type, and of NULL, json_string_value() is NULL, json_integer_value() 0,
 * json_object_get() NULL, and a json_..._foreach() ends at once.
 * @return the caller's to release; NULL: it is no object */
json_t *vaultctl_http_object(const vaultctl_answer_t *answer);

/** The text of a string from an answer; "-" if it is none. Never NULL. Print it by output.h. */
const char *vaultctl_json_text(const json_t *string);

/** Ask, and take the answer as vaultctl_http_object() does; anything but 200 is said.
 * @param json  the caller's to release; NULL unless VAULTCTL_DONE
 * @return VAULTCTL_DONE or VAULTCTL_TROUBLE */
int vaultctl_http_json(vaultctl_http_t *http, json_t **json, const char *path, const char *form, apr_pool_t *pool);

/** `text` as it may stand in a query or a form. */
const char *vaultctl_http_escape(vaultctl_http_t *http, const char *text, apr_pool_t *pool);

#endif
