/* SPDX-License-Identifier: Apache-2.0 */
/* A method is the handler of any URL of this server. The filter VAULT_CAPTURE collects its output, which does
 * not go to the browser. */
#include "poll/method.h"

#include "apr_lib.h"
#include "apr_strings.h"
#include "http_core.h"
#include "http_protocol.h"
#include "http_request.h"
#include "util_filter.h"

#include "base/utf8.h"
#include "poll/method_reuse.h"
#include "recording/judge.h"
#include "request/subrequest.h"
#include "server/log.h"
#include "server/server.h"
#include "session/session_request.h"
#include "view/context.h"
#include "view/feed_key.h"
#include "view/headers.h"
#include "view/page_request.h"
#include "view/view_conf.h"

/* The Accept header of all methods, whatever the poll's own accepts. The Turbo integrations of frameworks
 * answer with Turbo's media type only to this. */
#define ACCEPT "text/vnd.turbo-stream.html, text/html, */*;q=0.1"

static ap_filter_rec_t *capture_filter;

/* Before the handlers of other modules, and after those of this one that refuse requests. */
#define BEFORE_HANDLERS (APR_HOOK_REALLY_FIRST + 1)
/* Before httpd's handler of files. */
#define BEFORE_FILES (APR_HOOK_REALLY_LAST - 1)

typedef struct capture_t {
    char *text;
    apr_size_t length, room, max;
    const char *failed;
    const request_rec *sub; /* the method's own; what it includes has the same filters */
    vault_output_t *output;
    apr_pool_t *pool;
} capture_t;

static void append(capture_t *c, const char *data, apr_size_t length)
{
    if (length > c->max - c->length) {
        c->failed = apr_psprintf(c->pool, "it wrote more than VaultMaxOutput, %" APR_SIZE_T_FMT " bytes", c->max);
        return;
    }
    if (c->length + length > c->room) {
        char *text;
        c->room = (c->length + length) * 2;
        text = apr_palloc(c->pool, c->room);
        memcpy(text, c->text, c->length);
        c->text = text;
    }
    memcpy(c->text + c->length, data, length);
    c->length += length;
}

static apr_status_t filter_capture(ap_filter_t *f, apr_bucket_brigade *bb)
{
    capture_t *c = f->ctx;
    apr_bucket *b;

    while (!c->failed && (b = APR_BRIGADE_FIRST(bb)) != APR_BRIGADE_SENTINEL(bb)) {
        const char *data;
        apr_size_t length;
        if (AP_BUCKET_IS_ERROR(b)) {
            c->failed =
                apr_psprintf(c->pool, "its output broke off with status %d", ((ap_bucket_error *)b->data)->status);
        }
        else if (!APR_BUCKET_IS_METADATA(b)) {
            if (apr_bucket_read(b, &data, &length, APR_BLOCK_READ) != APR_SUCCESS) {
                c->failed = "its output cannot be read";
                break;
            }
            append(c, data, length);
        }
        apr_bucket_delete(b);
    }
    apr_brigade_cleanup(bb);
    return c->failed ? APR_ECONNABORTED : APR_SUCCESS;
}

static int is_blank(const capture_t *c)
{
    apr_size_t i;

    for (i = 0; i < c->length; i++) {
        if (!apr_isspace(c->text[i])) {
            return 0;
        }
    }
    return 1;
}

/* Describes the session and the page to the method's handler by headers. */
static void tell_page(request_rec *sub)
{
    const vault_context_t *x = vault_context_get(sub);

    if (x && x->txn) {
        vault_session_request_enter_method(sub, x->txn);
    }
    if (x && x->txn && vault_view_conf_of(sub)->long_poll == 1) {
        vault_page_request_tell(sub->headers_in, &x->page, vault_page_txn_base(x->txn)->properties, sub->pool);
        if (x->calls.run) {
            apr_table_setn(sub->headers_in, "Vault-Page", vault_feed_key_format(&x->calls, sub->pool));
        }
    }
}

static const char *judge(const request_rec *sub, int rv, const capture_t *c, apr_pool_t *pool)
{
    if (c->failed) {
        return c->failed;
    }
    if (rv != OK && rv != DONE && rv != HTTP_NO_CONTENT) {
        return apr_psprintf(pool, "its handler answered %d", rv);
    }
    if (sub->status >= HTTP_MULTIPLE_CHOICES) {
        return apr_psprintf(pool, "its status is %d", sub->status);
    }
    if (vault_headers_say_compressed(sub)) {
        return "its output is compressed, which the request did not ask for";
    }
    return NULL;
}

static const char *media_type(const request_rec *sub, apr_pool_t *pool)
{
    const char *type = sub->content_type ? sub->content_type : "text/html";
    apr_size_t length = strcspn(type, "; ");

    return vault_utf8_clean(apr_pstrmemdup(pool, type, length), length, &length, pool);
}

/* ----------------------------------------------------- the output of another run */

static capture_t *capture_of(const request_rec *sub)
{
    const ap_filter_t *f;

    for (f = sub->output_filters; f && f->frec != capture_filter; f = f->next) {
    }
    return f && ((const capture_t *)f->ctx)->sub == sub ? f->ctx : NULL;
}

/* @return DECLINED: the method's handler is to run */
static int answer(request_rec *sub, vault_output_t *output)
{
    switch (vault_method_reuse(vault_context_get(sub), sub, output)) {
    case VAULT_REUSE_DONE:
    case VAULT_REUSE_BUSY:
        sub->eos_sent = 1; /* its filters have nothing to do */
        return OK;
    case VAULT_REUSE_NONE:
    case VAULT_REUSE_LEADS:
        break;
    }
    return DECLINED;
}

static int before_handlers(request_rec *r)
{
    const capture_t *c = r->main && !vault_judge_is_file(r) ? capture_of(r) : NULL;

    return c ? answer(r, c->output) : DECLINED;
}

/* All other handlers have declined. One of them may answer for some visitors in the place of the file. */
static int before_files(request_rec *r)
{
    const capture_t *c = r->main && vault_judge_is_file(r) ? capture_of(r) : NULL;

    return c ? answer(r, c->output) : DECLINED;
}

/* -------------------------------------------------------------------- running */

static const char *run_handler(request_rec *sub, const capture_t *c, vault_output_t *output, apr_pool_t *pool)
{
    const request_rec *last;
    const char *failed;
    int rv;

    tell_page(sub);
    rv = ap_run_sub_req(sub);
    if (output->reused || output->busy.ref.index) {
        return NULL;
    }
    for (last = sub; last->next; last = last->next) {
    }
    vault_method_reuse_judge(vault_context_get(sub), sub, last);
    failed = judge(last, rv, c, pool);
    output->status = rv != OK && rv != DONE ? rv : last->status;
    output->format = vault_context_get(sub)->format;
    if (!c->failed && output->status != HTTP_NO_CONTENT && !is_blank(c)) {
        output->type = media_type(last, pool);
        output->body = vault_utf8_clean(c->text, c->length, &output->length, pool);
    }
    return failed;
}

static const char *run_captured(request_rec *r, ap_filter_t *capture, vault_output_t *output, apr_pool_t *pool)
{
    request_rec *sub = vault_subrequest_make(r, output->url, capture, pool);
    capture_t *c = capture->ctx;
    const char *failed;

    output->status = sub->status;
    if (sub->status != HTTP_OK) {
        failed = apr_psprintf(pool, "its status is %d", sub->status);
    }
    else {
        vault_subrequest_unset_headers(sub);
        apr_table_setn(sub->headers_in, "Accept", ACCEPT);
        c->sub = sub;
        failed = run_handler(sub, c, output, pool);
    }
    ap_destroy_sub_req(sub);
    return failed;
}

const char *vault_method_run(request_rec *r, const char *url, apr_off_t max, vault_output_t *output, apr_pool_t *pool)
{
    static char none[1];
    capture_t c = {.text = none, .max = (apr_size_t)max, .output = output, .pool = pool};
    ap_filter_t capture = {.frec = capture_filter, .ctx = &c, .r = r, .c = r->connection};
    vault_context_t *x = vault_context_make(r);

    memset(output, 0, sizeof(*output));
    output->url = url;
    x->format = NULL;
    x->rendered = NULL;
    return run_captured(r, &capture, output, pool);
}

int vault_method_is_refusal(int status)
{
    switch (status) {
    case HTTP_UNAUTHORIZED:
    case HTTP_FORBIDDEN:
    case HTTP_MOVED_PERMANENTLY:
    case HTTP_MOVED_TEMPORARILY:
    case HTTP_SEE_OTHER:
    case HTTP_TEMPORARY_REDIRECT:
    case HTTP_PERMANENT_REDIRECT:
        return 1;
    default:
        return 0;
    }
}

void vault_method_hooks(void)
{
    capture_filter = ap_register_output_filter("VAULT_CAPTURE", filter_capture, NULL, AP_FTYPE_CONTENT_SET);
    ap_hook_handler(before_handlers, NULL, NULL, BEFORE_HANDLERS);
    ap_hook_handler(before_files, NULL, NULL, BEFORE_FILES);
}
