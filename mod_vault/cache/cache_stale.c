/* SPDX-License-Identifier: Apache-2.0 */
/* Finds outdated responses, and puts them in the place of errors. */
#include "cache/cache_stale.h"

#include <string.h>

#include "http_log.h"

#include "base/now.h"
#include "cache/cache_conf.h"
#include "cache/cache_headers.h"
#include "cache/cache_serve.h"
#include "server/log.h"
#include "server/server.h"
#include "view/context.h"

APLOG_USE_MODULE(vault);

static int serve(request_rec *r, const char *key, int *status)
{
    vault_output_entry_t entry;

    memset(&entry, 0, sizeof(entry));
    while (vault_outputs_find(vault_server->outputs, key, strlen(key), &entry, r->pool) == VAULT_OUTPUT_ENTRY) {
        if (vault_cache_serve(r, &entry, 1, status)) {
            return 1;
        }
    }
    return 0;
}

static int is_allowed(const request_rec *r)
{
    return vault_cache_conf_stale(r) && vault_cache_headers_accept_stale(r);
}

int vault_cache_stale_answer(request_rec *r, const char *key, int *status)
{
    return is_allowed(r) && serve(r, key, status);
}

const vault_cache_stale_t *vault_cache_stale_prepare(request_rec *r, const char *key)
{
    vault_cache_stale_t *s;

    if (!is_allowed(r)) {
        return NULL;
    }
    s = apr_palloc(r->pool, sizeof(*s));
    s->key = key;
    s->headers = apr_table_copy(r->pool, r->headers_out);
    s->err_headers = apr_table_copy(r->pool, r->err_headers_out);
    return s;
}

/* What the handler has said of its response. */
typedef struct response_t {
    int status;
    const char *status_line, *content_type, *content_encoding;
    apr_array_header_t *content_languages;
    apr_table_t *headers, *err_headers;
    apr_off_t length;
} response_t;

static response_t response_of(const request_rec *r)
{
    return (response_t){r->status,      r->status_line,     r->content_type, r->content_encoding, r->content_languages,
                        r->headers_out, r->err_headers_out, r->clength};
}

static void set_response(request_rec *r, const response_t *from)
{
    r->status = from->status;
    r->status_line = from->status_line;
    r->content_type = from->content_type;
    r->content_encoding = from->content_encoding;
    r->content_languages = from->content_languages;
    r->headers_out = from->headers;
    r->err_headers_out = from->err_headers;
    r->clength = from->length;
}

/* A page that the failed run has begun may have newer positions in the data than the outdated response. */
int vault_cache_stale_replace(request_rec *r, const vault_cache_stale_t *stale, int *status)
{
    static apr_time_t said;
    const vault_context_t *x = vault_context_get(r);
    response_t failed = response_of(r), fresh = {.status = HTTP_OK};
    int level;

    if (!stale || x->txn) {
        return 0;
    }
    fresh.headers = apr_table_copy(r->pool, stale->headers);
    fresh.err_headers = apr_table_copy(r->pool, stale->err_headers);
    set_response(r, &fresh);
    if (!serve(r, stale->key, status)) {
        set_response(r, &failed);
        return 0;
    }
    level = vault_log_seldom(&said, vault_now(), APLOG_WARNING);
    ap_log_rerror(APLOG_MARK, level, 0, r, VLTNO(00421) "%s failed: an outdated response is sent in its place", r->uri);
    return 1;
}
