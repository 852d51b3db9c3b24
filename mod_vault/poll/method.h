/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file method.h
 * Runs a long-poll method: a URL of this server, as a subrequest whose output is captured.
 */
#ifndef VAULT_METHOD_H
#define VAULT_METHOD_H

#include "httpd.h"

#include "output/output_store.h"

/** The output of a method. */
typedef struct vault_output_t {
    const char *url;
    const char *type; /* media type, without parameters */
    const char *body; /* UTF-8 (invalid bytes replaced), not NUL-terminated; NULL: nothing new */
    apr_size_t length;
    int status;                /* of HTTP */
    const char *format;        /* the value of Vault-Update; NULL: none */
    vault_personal_t personal; /* why it is for this page alone, where VaultCache is on */
    int reused;                /* the method did not run: another run has made this output (method_reuse.h) */
    vault_output_lead_t busy;  /* ref.index not 0: another request is running it, there is no output yet */
} vault_output_t;

/** Run the method, or use the output of another run; or find that another request runs it. It has nothing new if
 * its body is empty or white space only, or its status is 204.
 * @param max     bytes; a method that writes more fails
 * @param output  set, in `pool`. If the method failed: its status, and its body if the method has produced one
 * @return NULL, or half a sentence in `pool` why it failed: a status of 300 or more, compressed output, output
 *         that broke off or is too long
 * Blocks as long as the handler does. */
const char *vault_method_run(request_rec *r, const char *url, apr_off_t max, vault_output_t *output, apr_pool_t *pool);

/** Does this status mean that the visitor has signed out or has no access: 401, 403, or a redirect, for instance
 * to a login page? */
int vault_method_is_refusal(int status);

/** Register the filter and the hooks of this file. */
void vault_method_hooks(void);

#endif
