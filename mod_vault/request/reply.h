/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file reply.h
 * How the module's own handlers read parameters and write answers: JSON with a Content-Length, not cacheable.
 */
#ifndef VAULT_REPLY_H
#define VAULT_REPLY_H

#include <jansson.h>

#include "httpd.h"

/** Answer with `body` and this status. Takes over the reference.
 * @return what the handler returns */
int vault_reply_json(request_rec *r, int status, json_t *body);

/** Answer with `text` (text.h), which is JSON, and this status. Frees it when it has been sent. NULL: answers
 * 500.
 * @return what the handler returns */
int vault_reply_text(request_rec *r, int status, char *text);

/** Answer {"error": "…"} with this status. An ErrorDocument does not replace it. */
int vault_reply_error(request_rec *r, int status, const char *error);

/** Answer 503 with this error and a Retry-After header. */
int vault_reply_retry(request_rec *r, int seconds, const char *error);

/** Forbid all caches to store the answer. */
void vault_reply_no_cache(request_rec *r);

/** Answer 204. */
int vault_reply_nothing(request_rec *r);

/** The default limits of a form, in bytes and in fields. */
#define VAULT_REPLY_FORM_MAX (16 * 1024)
#define VAULT_REPLY_FIELDS_MAX 100

typedef struct vault_field_t {
    const char *name;
    const char *value;
} vault_field_t;

/** The fields of the query string and, for a POST, of the form, in their order. Reads any body to its end.
 * @param fields  of vault_field_t; any bytes but NUL; in `pool`
 * @param max     the longest form, in bytes: VAULT_REPLY_FORM_MAX, or the value of a directive
 * @return OK, or the status to answer with: 400 the body is not urlencoded, 413 the form has more than `max`
 *         bytes or VAULT_REPLY_FIELDS_MAX fields, 415 the body is not a form. In these cases `fields` has those
 *         of the query */
int vault_reply_fields(request_rec *r, apr_array_header_t **fields, apr_size_t max, apr_pool_t *pool);

/** Answer with the error of vault_reply_fields(): 415 with a sentence, other statuses as httpd does.
 * @return what the handler returns */
#define VAULT_REPLY_FORM_ONLY "the body must be application/x-www-form-urlencoded"
int vault_reply_no_fields(request_rec *r, int status);

/** The same as a table; names are compared without regard to case, and the last of several values counts. */
int vault_reply_params(request_rec *r, apr_table_t **params, apr_size_t max, apr_pool_t *pool);

/** Is the method one of those given (HEAD is not GET here)? @return OK; otherwise what the handler returns: 405
 * has been answered, with an Allow header */
int vault_reply_method(request_rec *r, int get, int post);

/** Answer 405 with this Allow header and error.
 * @return what the handler returns */
int vault_reply_allow(request_rec *r, const char *allowed, const char *error);

#endif
