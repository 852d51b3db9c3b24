/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file poll_request.h
 * What a poll request says, read with the distrust that anything from a browser gets.
 */
#ifndef VAULT_POLL_REQUEST_H
#define VAULT_POLL_REQUEST_H

#include "httpd.h"

#include "page/page.h"

/** Pages that one poll may ask for. */
#define VAULT_POLL_PAGES_MAX 32
/** One page of a poll. */
typedef struct vault_asked_t {
    const char *id;    /* as it was said */
    vault_page_t page; /* zeroed when no server of this kind gave such an id: there is no such page */
    vault_take_t take;
} vault_asked_t;

typedef struct vault_poll_request_t {
    unsigned count; /* at least 1 */
    vault_asked_t asked[VAULT_POLL_PAGES_MAX];
    apr_time_t until; /* how long it may wait */
    int several;      /* asked in the form for several pages, and to be answered so */
    int ack;          /* acknowledge only */
    int stream;       /* it accepts a stream of events */
    int html;         /* it asks for HTML: a stream is the only answer there is */
} vault_poll_request_t;

/** Read query, form, body and headers.
 * @param pool  for what is needed while reading; what is read points into it
 * @return OK
 *         HTTP_BAD_REQUEST               no page, a page without seq or twice, or something garbled
 *         HTTP_NOT_ACCEPTABLE            HTML is asked for where VaultStreamTimeout is 0
 *         HTTP_REQUEST_ENTITY_TOO_LARGE  a form above VaultMaxPollBody, too many fields or pages
 *         others                         the body could not be read */
int vault_poll_request_read(vault_poll_request_t *q, request_rec *r, apr_pool_t *pool);

/** Say what is wrong with a request that could not be read. @return what the handler returns */
int vault_poll_request_refuse(request_rec *r, int status);

/** How long a poll of `r` may wait: as configured, a tenth more or less. */
apr_interval_time_t vault_poll_request_hold(request_rec *r);

#endif
