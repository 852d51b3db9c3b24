/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file method.h
 * Running a long-poll method: a URL of this server, as a subrequest whose output is kept.
 */
#ifndef VAULT_METHOD_H
#define VAULT_METHOD_H

#include "httpd.h"

/** What a method wrote. */
typedef struct vault_output_t {
    const char *url;
    const char *type; /* media type, without parameters */
    const char *body; /* UTF-8 (other bytes replaced), not NUL-terminated; NULL: nothing new */
    apr_size_t length;
    int status;         /* of HTTP */
    const char *format; /* what Vault-Update said of it; NULL: nothing */
} vault_output_t;

/** Run it. "Nothing new" is an empty body, one of white space only, or 204.
 * @param max     bytes; a method that writes more fails
 * @param output  filled in; memory of `pool`. Of a method that failed: its status, and its body if that is what came of it
 * @return NULL, or why it failed: a status of 300 or more, compressed output, output cut off or too long. Half a sentence in `pool`.
 * Blocks as long as the handler does. */
const char *vault_method_run(request_rec *r, const char *url, apr_off_t max, vault_output_t *output, apr_pool_t *pool);

/** Is that the status of a method whose visitor has signed out, or may not see it: 401, 403, or a redirect, as to a
 * login? */
int vault_method_is_refusal(int status);

/** Register the filter of this file. */
void vault_method_hooks(void);

#endif
