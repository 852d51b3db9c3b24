/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file poll_request.h
 * What a poll request says, read with the distrust that anything from a browser gets.
 */
#ifndef VAULT_POLL_REQUEST_H
#define VAULT_POLL_REQUEST_H

#include "httpd.h"

#include "page.h"

typedef struct vault_poll_request_t {
    vault_page_t page;
    vault_take_t take;
    int ack; /* acknowledge only */
} vault_poll_request_t;

/** Read query, form and body.
 * @param pool  for what is needed while reading
 * @return OK
 *         HTTP_BAD_REQUEST  no page, no seq, or one that is garbled
 *         HTTP_GONE         an id that no server of this kind gave
 *         others            the body could not be read */
int vault_poll_request_read(vault_poll_request_t *q, request_rec *r, apr_pool_t *pool);

#endif
