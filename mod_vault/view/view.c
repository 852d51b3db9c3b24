/* SPDX-License-Identifier: Apache-2.0 */
/* The output filter VAULT_VIEW for the HTML of a view. It holds back the beginning of the HTML, so that the
 * response header can still forbid caching if the page is asked for late in the HTML. It publishes the page
 * before it passes on the end.
 */
#include "view/view.h"

#include "apr_strings.h"
#include "http_protocol.h"
#include "http_request.h"
#include "util_filter.h"

#include "page/method_url.h"
#include "request/main_request.h"
#include "request/own_handlers.h"
#include "server/log.h"
#include "server/server.h"
#include "view/context.h"
#include "view/headers.h"
#include "view/page_request.h"
#include "view/recorded.h"
#include "view/script_filter.h"
#include "view/view_conf.h"

APLOG_USE_MODULE(vault);

/* The most HTML that is held back. A view that asks for its first long poll after that cannot have a page. */
#define HELD_BACK (64 * 1024)

static ap_filter_rec_t *view_filter;

typedef struct view_t {
    vault_context_t *context;
    apr_bucket_brigade *held;
    int failed; /* an error bucket has passed, from an include or a backend, possibly long before the end */
} view_t;

/* -------------------------------------------------------------------- filter */

/* HTML with the id of a page belongs to one browser tab: no cache may store it, no range of it may be sent, and
 * no 304. */
static void mark_private(request_rec *r)
{
    static const char *const names[] = {"Cache-Control", "ETag", "Last-Modified", "Expires", "Accept-Ranges"};
    unsigned i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        vault_headers_unset(r, names[i]);
    }
    apr_table_setn(r->headers_out, "Cache-Control", "private, no-store");
    apr_table_unset(r->headers_in, "Range");
    apr_table_unset(r->headers_in, "If-Range");
    r->no_local_copy = 1;
}

/* Is no-vault-page set: does the configuration say that this client, such as a crawler, never polls? */
static int never_polls(const request_rec *r)
{
    return apr_table_get(r->subprocess_env, "no-vault-page") != NULL;
}

static int is_worth_a_page(const request_rec *r, const vault_context_t *x)
{
    return x->has_poll && !r->header_only && r->status < HTTP_BAD_REQUEST && !r->connection->aborted && !never_polls(r);
}

static int has_error(const apr_bucket_brigade *bb)
{
    apr_bucket *b;

    for (b = APR_BRIGADE_FIRST(bb); b != APR_BRIGADE_SENTINEL(bb); b = APR_BUCKET_NEXT(b)) {
        if (AP_BUCKET_IS_ERROR(b)) {
            return 1;
        }
    }
    return 0;
}

/* Take over the results of the application's feed calls into the view. */
static void close_calls(request_rec *r, vault_context_t *x)
{
    vault_state_t *made = NULL;
    apr_status_t rv =
        x->calls.run ? vault_page_calls_close(vault_server->pages, &x->calls, &made, r->pool) : APR_SUCCESS;

    x->calls.run = 0;
    if (rv != APR_SUCCESS) {
        vault_page_txn_fail(x->txn, "a call of a feed by the application failed");
    }
    else if (made) {
        vault_page_txn_take(x->txn, made);
    }
}

/* The HTML is complete: what it shows becomes state number 0. If the response is not a live page, remove the page now,
 * not after a slow client has read the response. */
static void complete(request_rec *r, vault_context_t *x, int failed)
{
    if (x->txn && !failed && is_worth_a_page(r, x)) {
        close_calls(r, x);
        vault_page_txn_end(x->txn, 1);
        vault_context_publish(r);
    }
    else {
        vault_context_drop(r);
    }
    x->txn = NULL;
    x->in_view = 0;
}

static int holds_flush_or_end(const apr_bucket_brigade *bb, int *end)
{
    apr_bucket *b;
    int flush = 0;

    for (b = APR_BRIGADE_FIRST(bb); b != APR_BRIGADE_SENTINEL(bb); b = APR_BUCKET_NEXT(b)) {
        *end |= APR_BUCKET_IS_EOS(b);
        flush |= APR_BUCKET_IS_FLUSH(b);
    }
    return flush || *end;
}

static int has_enough(apr_bucket_brigade *bb)
{
    apr_off_t length = 0;

    return apr_brigade_length(bb, 0, &length) == APR_SUCCESS && (length < 0 || length > HELD_BACK);
}

static apr_status_t filter_view(ap_filter_t *f, apr_bucket_brigade *bb)
{
    view_t *v = f->ctx;
    vault_context_t *x = v->context;
    int end = 0, go = holds_flush_or_end(bb, &end);

    v->failed |= has_error(bb);
    if (!x->sealed) {
        if (!go && !x->txn && !has_enough(v->held)) {
            return ap_save_brigade(f, &v->held, &bb, f->r->pool);
        }
        x->sealed = 1;
        if (x->txn) {
            mark_private(f->r);
        }
        APR_BRIGADE_PREPEND(bb, v->held);
    }
    if (end) {
        complete(f->r, x, v->failed);
        ap_remove_output_filter(f);
    }
    return ap_pass_brigade(f->next, bb);
}

int vault_view_is_possible(request_rec *r)
{
    return !r->main && vault_view_conf_of(r)->long_poll == 1 &&
           (r->method_number == M_GET || r->method_number == M_POST) && !vault_own_handler(r);
}

static void insert_view(request_rec *r)
{
    vault_context_t *x;
    view_t *v;

    if (!vault_view_is_possible(r)) {
        return;
    }
    x = vault_context_make(r);
    if (x->in_view || x->own) {
        return;
    }
    x->in_view = 1;
    v = apr_pcalloc(r->pool, sizeof(*v));
    v->context = x;
    v->held = apr_brigade_create(r->pool, r->connection->bucket_alloc);
    ap_add_output_filter_handle(view_filter, v, r, r->connection);
    vault_script_insert(r);
}

/* ----------------------------------------------------------------------- API */

/* The absolute, percent-encoded path of this server for `url`; NULL: it is none. A relative URL is resolved
 * against the page's own. */
static const char *local_path(request_rec *r, const char *url)
{
    const char *folder;

    if (!url[0] || !vault_method_is_url(url) || !strncmp(url, "//", 2) || (url[0] != '/' && strchr(url, ':'))) {
        return NULL;
    }
    if (url[0] == '/') {
        return url;
    }
    folder = ap_os_escape_path(r->pool, ap_make_dirstr_parent(r->pool, r->uri), 1);
    return ap_make_full_path(r->pool, folder, url);
}

apr_status_t vault_view_add_long_poll(request_rec *r, const char *url)
{
    vault_context_t *x = vault_context_make(r);
    const char *path = local_path(r, url);
    vault_write_t write = {.method = path,
                           .max_methods = vault_view_conf_max_methods(vault_view_conf_of(vault_main_request(r)))};
    apr_status_t rv;

    if (!path) {
        return APR_EINVAL;
    }
    vault_recording_of_page(x->recording, "it makes its page live");
    if (x->in_method) {
        return APR_NOTFOUND;
    }
    if (x->own) {
        return vault_page_request_write(r, &write);
    }
    if (!vault_context_txn(r, &rv)) {
        return rv;
    }
    rv = vault_page_txn_add_method(x->txn, path, write.max_methods);
    if (rv == APR_SUCCESS) {
        x->has_poll = 1;
    }
    return rv;
}

const char *vault_view_script(request_rec *r)
{
    const request_rec *top = vault_main_request(r);
    vault_context_t *x = vault_context_get(r);
    char id[VAULT_PAGE_ID_LEN + 1];

    if (!x || !x->txn || x->in_method || top->status >= HTTP_BAD_REQUEST || never_polls(top)) {
        return NULL; /* an error document is not a page: vault.js would find that the page does not exist and would reload it */
    }
    x->has_script = 1;
    x->wants_script = 0;
    vault_page_format(&x->page, id);
    return apr_psprintf(r->pool, "<script src=\"%s/vault.js\" data-vault-page=\"%s\" defer></script>",
                        vault_view_conf_path(vault_view_conf_of(vault_main_request(r))), id);
}

void vault_view_hooks(apr_pool_t *p)
{
    view_filter = ap_register_output_filter("VAULT_VIEW", filter_view, NULL, AP_FTYPE_CONTENT_SET - 1);
    ap_hook_insert_filter(insert_view, NULL, NULL, APR_HOOK_LAST);
    vault_script_hooks();
}
