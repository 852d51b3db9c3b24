/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file dispatcher.h
 * The poll: runs the page's methods, answers if any wrote something, else waits until notified.
 */
#ifndef VAULT_DISPATCHER_H
#define VAULT_DISPATCHER_H

#include <jansson.h>

#include "httpd.h"

/** The handler `vault-poll`. Exact steps: protocol.md in docs/. */
int vault_dispatcher_handler(request_rec *r);

/** What methods wrote, as an answer has it.
 * @param outputs  of vault_output_t (method.h)
 * @return NULL: one of them cannot be JSON */
json_t *vault_dispatcher_updates(const apr_array_header_t *outputs);

#endif
