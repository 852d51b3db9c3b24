/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file acknowledgement.h
 * Handles a request that acknowledges answers and does not wait for new ones.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_ACKNOWLEDGEMENT_H
#define VAULT_ACKNOWLEDGEMENT_H

#include "httpd.h"

#include "poll/poll_request.h"

/** Acknowledge the pages of `q`, and answer the request.
 * @param pool  scratch memory
 * @return what the handler returns */
int vault_acknowledgement_answer(request_rec *r, const vault_poll_request_t *q, apr_pool_t *pool);

#endif
