/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file poll_request.h
 * Parses and validates a poll. Nothing in it is trusted.
 */
#ifndef VAULT_POLL_REQUEST_H
#define VAULT_POLL_REQUEST_H

#include "httpd.h"

#include "page/page.h"

/** The most pages of one poll. */
#define VAULT_POLL_PAGES_MAX 32
/** One page of a poll. */
typedef struct vault_asked_t {
    const char *id;    /* as the client has sent it */
    vault_page_t page; /* zeroed if the id has not the form of an id: there is no such page */
    vault_take_t take;
    apr_status_t found; /* of vault_store_find() */
} vault_asked_t;

typedef struct vault_poll_request_t {
    unsigned count; /* at least 1 */
    vault_asked_t asked[VAULT_POLL_PAGES_MAX];
    apr_time_t until; /* how long the poll may wait */
    int several;      /* the form for several pages was used, so the answer has it, too */
    int ack;          /* acknowledge only */
    int stream;       /* it accepts a stream of events */
    int html;         /* it asks for HTML, which is answered only as a stream */
} vault_poll_request_t;

/** Parse query, form, body and headers.
 * @param pool  scratch memory; the result points into it
 * @return OK
 *         HTTP_BAD_REQUEST               no page, a page without seq or given twice, or a syntax error
 *         HTTP_NOT_ACCEPTABLE            HTML is asked for where VaultStreamTimeout is 0
 *         HTTP_REQUEST_ENTITY_TOO_LARGE  a form longer than VaultMaxPollBody, too many fields or pages
 *         other values                   the body could not be read */
int vault_poll_request_read(vault_poll_request_t *q, request_rec *r, apr_pool_t *pool);

/** Answer a request that could not be parsed. @return what the handler returns */
int vault_poll_request_refuse(request_rec *r, int status);

/** How long a poll of `r` may wait: the configured time, varied by a tenth. */
apr_interval_time_t vault_poll_request_hold(request_rec *r);

#endif
