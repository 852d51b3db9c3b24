/* SPDX-License-Identifier: Apache-2.0 */
/* The output filter VAULT_SCRIPT, which runs after VAULT_HEADERS and before VAULT_VIEW. */
#include "view/script_filter.h"

#include "apr_strings.h"
#include "http_protocol.h"
#include "util_filter.h"

#include "base/html_place.h"
#include "request/main_request.h"
#include "view/context.h"
#include "view/headers.h"
#include "view/view.h"

static ap_filter_rec_t *script_filter;

typedef struct place_t {
    vault_context_t *context;
    vault_html_t html;
    char kept[VAULT_HTML_KEEP_MAX]; /* the end of the previous text, to be scanned again with the next */
    apr_size_t length;
} place_t;

static int is_html(const char *type)
{
    apr_size_t n = type ? strcspn(type, "; ") : 0;

    return (n == 9 && !strncasecmp(type, "text/html", n)) ||
           (n == 21 && !strncasecmp(type, "application/xhtml+xml", n));
}

const char *vault_script_refused(request_rec *r)
{
    const request_rec *top = vault_main_request(r);

    if (!is_html(top->content_type)) {
        return "the answer is not HTML (Content-Type: text/html), so it can have no page";
    }
    if (ap_strcasestr(top->content_type, "utf-16") || ap_strcasestr(top->content_type, "utf-32")) {
        return "the page's script cannot be put into UTF-16 or UTF-32";
    }
    if (vault_headers_say_compressed(top)) {
        return "the answer is compressed, so the page's script cannot be put in: have the application leave that to "
               "httpd";
    }
    return NULL;
}

void vault_script_want(request_rec *r)
{
    vault_context_t *x = vault_context_get(r);
    request_rec *top = vault_main_request(r);

    if (!x->has_script && !x->has_stream) {
        x->wants_script = 1;
        vault_headers_unset(top, "Content-Length");
        vault_headers_unset(top, "Content-MD5");
        vault_headers_unset(top, "Digest");
    }
}

/* ------------------------------------------------------------------- buckets */

static void put_before(ap_filter_t *f, apr_bucket *b, const char *text, apr_size_t length)
{
    if (length) {
        APR_BUCKET_INSERT_BEFORE(b, apr_bucket_heap_create(text, length, NULL, f->c->bucket_alloc));
    }
}

static void put_script(ap_filter_t *f, place_t *p, apr_bucket *b)
{
    const char *script = vault_view_script(f->r);

    p->context->wants_script = 0;
    if (script) {
        put_before(f, b, script, strlen(script));
    }
}

/* The kept text followed by the bucket's, in one piece. */
static char *join(place_t *p, const char *data, apr_size_t *length, apr_bucket_alloc_t *alloc)
{
    char *text = apr_bucket_alloc(p->length + *length, alloc);

    memcpy(text, p->kept, p->length);
    memcpy(text + p->length, data, *length);
    *length += p->length;
    p->length = 0;
    return text;
}

/* Passes on a bucket's text, with the script element if the position is in it. Deletes the bucket. */
static void pass_text(ap_filter_t *f, place_t *p, apr_bucket *b, const char *data, apr_size_t length)
{
    char *text = join(p, data, &length, f->c->bucket_alloc);
    apr_size_t keep, begin = 0;
    apr_ssize_t place = vault_html_find(&p->html, text, length, &keep);

    if (place >= 0) {
        begin = (apr_size_t)place;
        put_before(f, b, text, begin);
        put_script(f, p, b);
    }
    memcpy(p->kept, text + length - keep, keep);
    p->length = keep;
    put_before(f, b, text + begin, length - keep - begin);
    apr_bucket_free(text);
    apr_bucket_delete(b);
}

/* Passes on what has been read before it blocks for more. @return APR_SUCCESS with data, or an error */
static apr_status_t read_bucket(ap_filter_t *f, apr_bucket_brigade *bb, apr_bucket *b, const char **data,
                                apr_size_t *length)
{
    apr_bucket_brigade *before;
    apr_status_t rv = apr_bucket_read(b, data, length, APR_NONBLOCK_READ);

    if (!APR_STATUS_IS_EAGAIN(rv)) {
        return rv;
    }
    before = apr_brigade_create(f->r->pool, f->c->bucket_alloc);
    while (APR_BRIGADE_FIRST(bb) != b) {
        apr_bucket *first = APR_BRIGADE_FIRST(bb);
        APR_BUCKET_REMOVE(first);
        APR_BRIGADE_INSERT_TAIL(before, first);
    }
    APR_BRIGADE_INSERT_TAIL(before, apr_bucket_flush_create(f->c->bucket_alloc));
    rv = ap_pass_brigade(f->next, before);
    return rv == APR_SUCCESS ? apr_bucket_read(b, data, length, APR_BLOCK_READ) : rv;
}

/* At the end of the document, the kept text is passed on, and the script is inserted if no other position was
 * found. */
static void pass_end(ap_filter_t *f, place_t *p, apr_bucket *b)
{
    put_before(f, b, p->kept, p->length);
    p->length = 0;
    if (p->context->wants_script) {
        put_script(f, p, b);
    }
}

static apr_status_t filter_script(ap_filter_t *f, apr_bucket_brigade *bb)
{
    place_t *p = f->ctx;
    apr_bucket *b = APR_BRIGADE_FIRST(bb), *next;
    apr_status_t rv;

    for (; b != APR_BRIGADE_SENTINEL(bb) && (p->context->wants_script || p->length); b = next) {
        const char *data;
        apr_size_t length;
        if (APR_BUCKET_IS_EOS(b)) {
            pass_end(f, p, b);
            break;
        }
        if (APR_BUCKET_IS_METADATA(b)) {
            next = APR_BUCKET_NEXT(b);
            continue;
        }
        if ((rv = read_bucket(f, bb, b, &data, &length)) != APR_SUCCESS) {
            return rv;
        }
        next = APR_BUCKET_NEXT(b);
        pass_text(f, p, b, data, length);
    }
    return APR_BRIGADE_EMPTY(bb) ? APR_SUCCESS : ap_pass_brigade(f->next, bb);
}

void vault_script_insert(request_rec *r)
{
    place_t *p = apr_pcalloc(r->pool, sizeof(*p));

    p->context = vault_context_make(r);
    ap_add_output_filter_handle(script_filter, p, r, r->connection);
}

void vault_script_hooks(void)
{
    script_filter = ap_register_output_filter("VAULT_SCRIPT", filter_script, NULL, AP_FTYPE_CONTENT_SET - 3);
}
