/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file visit.h
 * Loads any URL as a browser does, with the cookies that answers have set. One request at a time, one thread.
 * An answer that does not end, such as a waiting poll, can be given up.
 *
 * The login and headers of --user, --netrc and --header are sent only to the origin (scheme, host and port) of
 * the first URL, wherever redirects and the HTML of a page lead.
 */
#ifndef VAULTCTL_VISIT_H
#define VAULTCTL_VISIT_H

#include "vaultctl.h"

typedef struct vaultctl_visitor_t vaultctl_visitor_t;

typedef struct vaultctl_request_t {
    const char *url;    /* absolute */
    const char *accept; /* NULL: any type */
    const char *body;   /* of a POST, can be ""; NULL: GET */
    const char *type;   /* of the body; NULL: none is sent */
    int by_page;        /* 1: sent by a script of the page, with the headers that tell a server the page's origin */
    int plain;          /* 1: accept no compression */
} vaultctl_request_t;

/** An answer. The strings live as long as the pool of vaultctl_visit_end(). */
typedef struct vaultctl_visit_t {
    const char *url;
    const char *version;  /* "HTTP/1.1"; "" if nothing was received */
    const char *location; /* the absolute target of a redirect; NULL: not a redirect */
    apr_table_t *headers; /* of several with the same name, the last */
    const char *body;     /* decoded, NUL-terminated, cut after some megabytes */
    apr_size_t length;
    long status; /* 0: no header was received */
    int ended;   /* the answer is complete */
} vaultctl_visit_t;

/** Freed with the pool. Asks for a password as vaultctl_http_open() does.
 * @param url  http or https; "www.example.org" means http://www.example.org/
 * @return NULL: the error has been reported */
vaultctl_visitor_t *vaultctl_visitor_open(const vaultctl_options_t *options, const char *url, apr_pool_t *pool);

/** The first URL, normalized. */
const char *vaultctl_visitor_url(const vaultctl_visitor_t *visitor);

/** The login as NAME:PASSWORD, so that the password is asked for once; NULL: none. */
const char *vaultctl_visitor_user(const vaultctl_visitor_t *visitor);

/** Does the visitor send its login and the headers of --header to this URL? */
int vaultctl_visitor_knows(const vaultctl_visitor_t *visitor, const char *url);

/** Send a request, and receive the answer within --max-time.
 * @return NULL: there is an answer, of any status; otherwise a sentence in `pool` why there is none */
const char *vaultctl_visit(vaultctl_visitor_t *visitor, vaultctl_visit_t *visit, const vaultctl_request_t *request,
                           apr_pool_t *pool);

/** The same in three steps, for an answer that may not end: begin, wait once or more, and end.
 * @return of wait: 1 the answer is complete or has broken off, or `some` is set and a part of its body has
 *         arrived; 0 not within `seconds` */
void vaultctl_visit_begin(vaultctl_visitor_t *visitor, const vaultctl_request_t *request);
int vaultctl_visit_wait(vaultctl_visitor_t *visitor, double seconds, int some);
const char *vaultctl_visit_end(vaultctl_visitor_t *visitor, vaultctl_visit_t *visit, apr_pool_t *pool);

/** Resolve a link relative to the page `base`; `base` itself if the link is NULL.
 * @return absolute, without a user and a fragment, in `pool`; NULL: not a URL of http or https */
const char *vaultctl_url_resolve(const char *base, const char *link, apr_pool_t *pool);

/** Have both URLs the same scheme, host and port? */
int vaultctl_url_same_origin(const char *a, const char *b);

#endif
