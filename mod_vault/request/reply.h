/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file reply.h
 * What the module's own handlers write: JSON with its length, and never for a cache.
 */
#ifndef VAULT_REPLY_H
#define VAULT_REPLY_H

#include <jansson.h>

#include "httpd.h"

/** Write `body` with that status. Takes the reference.
 * @return what the handler returns */
int vault_reply_json(request_rec *r, int status, json_t *body);

/** Write `text` (text.h), which is JSON, with that status. Frees it when it is sent; NULL: 500.
 * @return what the handler returns */
int vault_reply_text(request_rec *r, int status, char *text);

/** Write {"error": "…"} with that status; no ErrorDocument comes in between. */
int vault_reply_error(request_rec *r, int status, const char *error);

/** 503 with that error, and when to try again. */
int vault_reply_retry(request_rec *r, int seconds, const char *error);

/** Nobody may keep what is answered. */
void vault_reply_no_cache(request_rec *r);

/** 204. */
int vault_reply_nothing(request_rec *r);

/** What a form may have where nothing else is said, in bytes and in fields. */
#define VAULT_REPLY_FORM_MAX (16 * 1024)
#define VAULT_REPLY_FIELDS_MAX 100

typedef struct vault_field_t {
    const char *name;
    const char *value;
} vault_field_t;

/** The fields of the query string and, of a POST, of the form, in their order.
 * Reads the body, whatever it is, to its end.
 * @param fields  of vault_field_t; any bytes but NUL; memory of `pool`
 * @param max     the longest form, in bytes: VAULT_REPLY_FORM_MAX, or what a directive says
 * @return OK, or the status to answer: 400 not urlencoded, 413 a form of more than `max` bytes or VAULT_REPLY_FIELDS_MAX
 *         fields, 415 a body that is no form: of these the query's fields are there */
int vault_reply_fields(request_rec *r, apr_array_header_t **fields, apr_size_t max, apr_pool_t *pool);

/** Answer what vault_reply_fields() has found wrong: 415 with its sentence, the others as httpd does.
 * @return what the handler returns */
#define VAULT_REPLY_FORM_ONLY "the body must be application/x-www-form-urlencoded"
int vault_reply_no_fields(request_rec *r, int status);

/** The same by name, in whatever case; of a name given twice the last. */
int vault_reply_params(request_rec *r, apr_table_t **params, apr_size_t max, apr_pool_t *pool);

/** Is the method GET or POST (not HEAD)? @return OK; or what the handler returns, 405 has been answered with the Allow header */
int vault_reply_method(request_rec *r, int get, int post);

/** 405 with what is allowed, as the Allow header has it, and a sentence.
 * @return what the handler returns */
int vault_reply_allow(request_rec *r, const char *allowed, const char *error);

#endif
