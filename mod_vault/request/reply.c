/* SPDX-License-Identifier: Apache-2.0 */
/* Parses parameters and writes JSON. */
#include "request/reply.h"

#include "apr_strings.h"
#include "http_protocol.h"
#include "util_filter.h"

#include "base/json_text.h"
#include "base/text.h"
#include "base/utf8.h"
#include "request/body.h"

void vault_reply_no_cache(request_rec *r)
{
    apr_table_setn(r->headers_out, "Cache-Control", "no-store");
}

int vault_reply_text(request_rec *r, int status, char *text)
{
    apr_bucket_alloc_t *ba = r->connection->bucket_alloc;
    apr_bucket_brigade *bb = apr_brigade_create(r->pool, ba);
    apr_size_t length;

    if (!text) {
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    length = strlen(text);
    vault_reply_no_cache(r);
    r->status = status;
    ap_set_content_type(r, "application/json");
    ap_set_content_length(r, (apr_off_t)length);
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_heap_create(text, length, vault_text_free, ba));
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_eos_create(ba));
    ap_pass_brigade(r->output_filters, bb);
    return OK; /* a client that has disconnected is not a failure of this handler */
}

int vault_reply_json(request_rec *r, int status, json_t *body)
{
    vault_json_text_t t = {.text = NULL};

    vault_json_text_value(&t, body);
    return vault_reply_text(r, status, vault_json_text_end(&t));
}

int vault_reply_error(request_rec *r, int status, const char *error)
{
    apr_size_t length = strlen(error);

    error = vault_utf8_clean(error, length, &length, r->pool);
    return vault_reply_json(r, status, json_pack("{s:s%}", "error", error, length));
}

int vault_reply_retry(request_rec *r, int seconds, const char *error)
{
    apr_table_setn(r->headers_out, "Retry-After", apr_itoa(r->pool, seconds));
    return vault_reply_error(r, HTTP_SERVICE_UNAVAILABLE, error);
}

int vault_reply_nothing(request_rec *r)
{
    vault_reply_no_cache(r);
    r->status = HTTP_NO_CONTENT;
    return OK;
}

int vault_reply_method(request_rec *r, int get, int post)
{
    if ((get && r->method_number == M_GET && !r->header_only) || (post && r->method_number == M_POST)) {
        return OK;
    }
    if (get) {
        return vault_reply_allow(r, post ? "GET, POST" : "GET",
                                 post ? "this URL takes GET and POST" : "this URL takes GET");
    }
    return vault_reply_allow(r, "POST", "this URL takes POST");
}

int vault_reply_allow(request_rec *r, const char *allowed, const char *error)
{
    int status = vault_body_discard(r);

    if (status != OK) {
        return status;
    }
    /* Not left to httpd's core, whose 405 would also list HEAD and TRACE as allowed. */
    apr_table_setn(r->headers_out, "Allow", allowed);
    status = vault_reply_error(r, HTTP_METHOD_NOT_ALLOWED, error);
    return status == OK ? DONE : status;
}

/* ---------------------------------------------------------------- parameters */

static void add_field(apr_array_header_t *fields, const char *name, const char *value)
{
    vault_field_t *f = apr_array_push(fields);

    f->name = name;
    f->value = value;
}

/* Modifies `text`. httpd's own parsers are not strict enough. ap_args_to_table() does not decode "+", ignores
 * invalid escapes and lets "%00" end a value. ap_parse_form_data() decodes invalid escapes to arbitrary bytes,
 * drops a field without "=", takes "%3D" in a name for "=", and blocks for as long as the client likes, where
 * vault_body_read() has limits.
 */
static int add_fields(apr_array_header_t *fields, char *text)
{
    char *rest, *pair;

    for (pair = text; pair; pair = rest) {
        char *value;
        if ((rest = strchr(pair, '&'))) {
            *rest++ = '\0';
        }
        if (!*pair) {
            continue;
        }
        if ((value = strchr(pair, '='))) {
            *value++ = '\0';
        }
        else {
            value = pair + strlen(pair);
        }
        if (fields->nelts >= VAULT_REPLY_FIELDS_MAX) {
            return HTTP_REQUEST_ENTITY_TOO_LARGE;
        }
        if ((*pair && ap_unescape_urlencoded(pair) != OK) || (*value && ap_unescape_urlencoded(value) != OK)) {
            return HTTP_BAD_REQUEST;
        }
        add_field(fields, pair, value);
    }
    return OK;
}

static int is_form(const request_rec *r)
{
    static const char form[] = "application/x-www-form-urlencoded";
    const char *type = apr_table_get(r->headers_in, "Content-Type");

    return type && !ap_cstr_casecmpn(type, form, sizeof(form) - 1) &&
           (!type[sizeof(form) - 1] || strchr("; \t", type[sizeof(form) - 1]));
}

/* Otherwise a body of another type would count as a form without fields. */
static int expect_no_body(request_rec *r, apr_pool_t *pool)
{
    char *text;
    int status = vault_body_read(r, &text, 0, pool);

    if (status == HTTP_REQUEST_ENTITY_TOO_LARGE) {
        status = vault_body_discard(r);
        return status == OK ? HTTP_UNSUPPORTED_MEDIA_TYPE : status;
    }
    return status;
}

int vault_reply_fields(request_rec *r, apr_array_header_t **fields, apr_size_t max, apr_pool_t *pool)
{
    char *form;
    int status;

    *fields = apr_array_make(pool, 4, sizeof(vault_field_t));
    if (add_fields(*fields, apr_pstrdup(pool, r->args ? r->args : "")) != OK) {
        return HTTP_BAD_REQUEST;
    }
    if (r->method_number != M_POST) {
        return vault_body_discard(r);
    }
    if (!is_form(r)) {
        return expect_no_body(r, pool);
    }
    status = vault_body_read(r, &form, max, pool);
    return status == OK ? add_fields(*fields, form) : status;
}

int vault_reply_no_fields(request_rec *r, int status)
{
    return status == HTTP_UNSUPPORTED_MEDIA_TYPE ? vault_reply_error(r, status, VAULT_REPLY_FORM_ONLY) : status;
}

int vault_reply_params(request_rec *r, apr_table_t **params, apr_size_t max, apr_pool_t *pool)
{
    apr_array_header_t *fields;
    int i, status = vault_reply_fields(r, &fields, max, pool);

    *params = apr_table_make(pool, 4);
    for (i = 0; (status == OK || status == HTTP_UNSUPPORTED_MEDIA_TYPE) && i < fields->nelts; i++) {
        const vault_field_t *f = &APR_ARRAY_IDX(fields, i, vault_field_t);
        apr_table_setn(*params, f->name, f->value);
    }
    return status;
}
