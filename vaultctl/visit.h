/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file visit.h
 * Loads any URL as a browser does, with the cookies that answers have set. One request at a time, one thread. An answer
 * that does not end, as a poll that waits, can be given up.
 *
 * What --user, --netrc and --header say goes to the origin (scheme, host and port) of the first URL alone, wherever
 * redirects and the HTML of a page lead.
 */
#ifndef VAULTCTL_VISIT_H
#define VAULTCTL_VISIT_H

#include "vaultctl.h"

typedef struct vaultctl_visitor_t vaultctl_visitor_t;

typedef struct vaultctl_request_t {
    const char *url;    /* absolute */
    const char *accept; /* NULL: any type */
    const char *body;   /* of a POST, may be ""; NULL: GET */
    const char *type;   /* of the body; NULL: none is said */
    int by_page;        /* a script of the page sends it, with the headers by which a server knows the page's origin */
    int plain;          /* do not let the answer be compressed */
} vaultctl_request_t;

/** What has come. The strings live as long as the pool of vaultctl_visit_end(). */
typedef struct vaultctl_visit_t {
    const char *url;
    const char *version;  /* "HTTP/1.1"; "" if nothing has come */
    const char *location; /* where a redirect leads, absolute; NULL: it is none */
    apr_table_t *headers; /* the last of several of one name */
    const char *body;     /* decoded, NUL-terminated, cut after some megabytes */
    apr_size_t length;
    long status; /* 0: no header has come */
    int ended;   /* the answer is complete */
} vaultctl_visit_t;

/** Goes with the pool. Asks for a password as vaultctl_http_open() does.
 * @param url  http or https; "www.example.org" is taken for http://www.example.org/
 * @return NULL: said what is wrong */
vaultctl_visitor_t *vaultctl_visitor_open(const vaultctl_options_t *options, const char *url, apr_pool_t *pool);

/** The first URL, complete. */
const char *vaultctl_visitor_url(const vaultctl_visitor_t *visitor);

/** Who logs in, as NAME:PASSWORD, so that no second one asks for the password; NULL: nobody. */
const char *vaultctl_visitor_user(const vaultctl_visitor_t *visitor);

/** Does the visitor log in there, and send the headers of --header? */
int vaultctl_visitor_knows(const vaultctl_visitor_t *visitor, const char *url);

/** Ask, and take what comes within --max-time.
 * @return NULL: there is an answer, of whatever status; or why there is none, a sentence in `pool` */
const char *vaultctl_visit(vaultctl_visitor_t *visitor, vaultctl_visit_t *visit, const vaultctl_request_t *request,
                           apr_pool_t *pool);

/** The same in three steps, for an answer that may not end: ask, wait once or more, and end it.
 * @return of wait: 1 the answer is complete, or broke off; 0 not so within `seconds`, or there is some of its body and
 *         `some` is set */
void vaultctl_visit_begin(vaultctl_visitor_t *visitor, const vaultctl_request_t *request);
int vaultctl_visit_wait(vaultctl_visitor_t *visitor, double seconds, int some);
const char *vaultctl_visit_end(vaultctl_visitor_t *visitor, vaultctl_visit_t *visit, apr_pool_t *pool);

/** What a link of the page `base` leads to; `base` itself if the link is NULL.
 * @return absolute, without a user and a fragment, in `pool`; NULL: it is no URL of http or https */
const char *vaultctl_url_resolve(const char *base, const char *link, apr_pool_t *pool);

/** Have both URLs one scheme, host and port? */
int vaultctl_url_same_origin(const char *a, const char *b);

#endif
