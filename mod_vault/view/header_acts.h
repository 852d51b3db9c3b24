/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file header_acts.h
 * The headers of an application's answer, a row each: what an item of the header does, and where it is accepted.
 * headers.c reads the headers, and calls these functions.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_HEADER_ACTS_H
#define VAULT_HEADER_ACTS_H

#include "httpd.h"

#include "view/context.h"

/** The headers of one request are being read. */
typedef struct vault_header_take_t {
    request_rec *r;                 /* the request that is being answered */
    vault_context_t *x;             /* the context of its main request; may be NULL */
    apr_array_header_t *properties; /* of vault_property_t: to be written to the page that has sent the request */
    apr_array_header_t *session;    /* of vault_property_t: to be written to the session */
    int renews;                     /* the session is to get another id */
    const char *name;               /* the name of the header */
} vault_header_take_t;

/** Apply one item of a header. @return NULL, or a sentence that says why it cannot be applied */
typedef const char *vault_header_act_t(vault_header_take_t *t, const char *piece);

typedef struct vault_header_row_t {
    const char *name;
    vault_header_act_t *act;
    int (*is_accepted)(const request_rec *r);
    const char *directive; /* the directive that decides this */
    int is_quiet;          /* the directive is off only where the administrator has said so: no warning */
} vault_header_row_t;

/** All of them, in the order in which they are to be read. */
const vault_header_row_t *vault_header_rows(unsigned *count);

/** Vault-Poll; also for the directive VaultPoll. */
vault_header_act_t vault_header_act_poll;

/** Let the current method wait for an interest that is named after its data have been read. */
void vault_header_wait_for(const vault_header_take_t *t, const char *interest);

/** Is this the answer of a method? */
static inline int vault_header_in_method(const vault_header_take_t *t)
{
    return t->x && t->x->in_method;
}

/** Does the answer count for a page? Errors, answers to conditional requests and partial answers do not. */
static inline int vault_header_counts(const vault_header_take_t *t)
{
    int status = t->r->status;

    return status >= 200 && status < 300 && status != HTTP_PARTIAL_CONTENT && !t->r->header_only;
}

#endif
