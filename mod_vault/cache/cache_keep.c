/* SPDX-License-Identifier: Apache-2.0 */
/* Collects a response for the output store. */
#include "cache/cache_keep.h"

#include "apr_strings.h"
#include "http_log.h"
#include "http_protocol.h"
#include "util_filter.h"

#include "cache/cache_headers.h"
#include "cache/cache_interests.h"
#include "cache/cache_socache.h"
#include "cache/cache_stale.h"
#include "server/log.h"
#include "server/server.h"
#include "view/context.h"
#include "view/headers.h"
#include "view/recorded.h"

APLOG_USE_MODULE(vault);

/* After VAULT_SCRIPT and before VAULT_VIEW. */
#define KEEP_TYPE (AP_FTYPE_CONTENT_SET - 2)
/* A longer response is not kept. */
#define LENGTH_MAX (8 * 1024 * 1024)

static ap_filter_rec_t *keep_filter, *hold_filter;

typedef struct keep_t {
    apr_bucket_brigade *all; /* a copy of the response so far; NULL: it cannot be kept */
    apr_off_t length;
    const char *key;
    const char *shared; /* the key for other servers; NULL: there are none */
    vault_output_ref_t ref;
    const char *body;                 /* once it is kept, until other servers have it */
    const vault_cache_stale_t *stale; /* NULL: an error is sent as it is */
    apr_table_t *before, *err_before; /* the headers that other modules had set before the handler ran */
    int has_headers;                  /* the headers have been read */
    int replaced;                     /* an outdated response was sent in the place of this one */
} keep_t;

/* @return 1: the response is kept */
static int end_recording(request_rec *r, const char *body, apr_size_t length)
{
    vault_context_t *x = vault_context_get(r);
    vault_recording_t *rec = x->recording;
    const char *why;

    x->recording = NULL;
    if ((why = vault_recording_end(rec, body, length))) {
        ap_log_rerror(APLOG_MARK, APLOG_DEBUG, 0, r, VLTNO(00398) "%s is not kept: %s", r->uri, why);
    }
    return !why;
}

/* ------------------------------------------------------------------- the metadata */

static void list_polls(vault_recording_t *rec, const vault_page_txn_t *txn)
{
    const apr_array_header_t *methods = vault_page_txn_state((vault_page_txn_t *)txn)->methods;
    int i;

    for (i = 0; i < methods->nelts; i++) {
        vault_metadata_add_read(rec->metadata.polls, APR_ARRAY_IDX(methods, i, vault_method_t).url, NULL);
    }
}

/* The application may have the id in places of its own, such as the URL of the page's stream. */
static void list_id_offsets(vault_recording_t *rec, const vault_context_t *x, const char *body, apr_size_t length)
{
    char id[VAULT_PAGE_ID_LEN + 1];
    const char *at = body, *end = body + length;

    vault_page_format(&x->page, id);
    while ((apr_size_t)(end - at) >= VAULT_PAGE_ID_LEN && (at = memchr(at, id[0], (apr_size_t)(end - at)))) {
        if ((apr_size_t)(end - at) >= VAULT_PAGE_ID_LEN && !memcmp(at, id, VAULT_PAGE_ID_LEN)) {
            *(apr_uint32_t *)apr_array_push(rec->metadata.id_offsets) = (apr_uint32_t)(at - body);
            at += VAULT_PAGE_ID_LEN;
        }
        else {
            at++;
        }
    }
}

static int names_page(const vault_recording_t *rec, const vault_context_t *x)
{
    char id[VAULT_PAGE_ID_LEN + 1];
    int i;

    vault_page_format(&x->page, id);
    for (i = 0; i < rec->metadata.headers->nelts; i++) {
        if (ap_strstr_c(APR_ARRAY_IDX(rec->metadata.headers, i, vault_property_t).value, id)) {
            return 1;
        }
    }
    return 0;
}

static void describe(vault_recording_t *rec, request_rec *r, const char *body, apr_size_t length)
{
    const vault_context_t *x = vault_context_get(r);

    rec->metadata.flags = (x->has_script ? VAULT_METADATA_SCRIPT : 0) | (x->has_stream ? VAULT_METADATA_STREAM : 0);
    if (x->txn && x->has_poll) {
        rec->metadata.made = vault_page_txn_made(x->txn);
        list_polls(rec, x->txn);
        list_id_offsets(rec, x, body, length);
    }
    if (x->calls.run) {
        vault_recording_personal(rec, VAULT_PERSONAL_PAGE, "its application calls feeds for the page");
    }
    if (names_page(rec, x)) {
        vault_recording_drop(rec, VAULT_PERSONAL_PAGE, "its headers name the page");
    }
    if (x->refused || r->status != HTTP_OK || (x->txn && vault_page_txn_failed(x->txn))) {
        vault_recording_drop(rec, VAULT_PERSONAL_NOT, "it failed");
    }
    if (rec->by_construction && !x->has_poll && !x->refused) {
        vault_recording_personal(rec, VAULT_PERSONAL_NOTLIVE, "it is not live, and VaultCache is not On");
    }
    if (!vault_recording_has_end(rec)) {
        vault_recording_drop(rec, VAULT_PERSONAL_ENDLESS,
                             "nothing says when its answer changes: it has no interest and no max-age");
    }
}

/* -------------------------------------------------------------------- filter */

static void finish(ap_filter_t *f, keep_t *k)
{
    vault_recording_t *rec = vault_recorded(f->r);
    apr_size_t length = 0;
    char *body = NULL;

    if (rec && k->all && !f->r->connection->aborted &&
        apr_brigade_pflatten(k->all, &body, &length, f->r->pool) == APR_SUCCESS) {
        describe(rec, f->r, body, length);
        k->ref = rec->lead.ref;
        body = body ? body : apr_pstrdup(f->r->pool, "");
        k->body = end_recording(f->r, body, length) ? body : NULL;
    }
    else if (rec) {
        end_recording(f->r, NULL, 0);
    }
}

static void stop_collecting(ap_filter_t *f, keep_t *k)
{
    if (k->all) {
        apr_brigade_destroy(k->all);
        k->all = NULL;
    }
    if (vault_recorded(f->r)) {
        end_recording(f->r, NULL, 0);
    }
}

/* @return 0: the response cannot be kept */
static int collect(ap_filter_t *f, keep_t *k, apr_bucket *b)
{
    const char *data;
    apr_size_t length;

    if (AP_BUCKET_IS_ERROR(b)) {
        return 0;
    }
    if (APR_BUCKET_IS_METADATA(b)) {
        return 1;
    }
    if (apr_bucket_read(b, &data, &length, APR_BLOCK_READ) != APR_SUCCESS ||
        (k->length += (apr_off_t)length) > LENGTH_MAX) {
        return 0;
    }
    apr_brigade_write(k->all, NULL, NULL, data, length);
    return 1;
}

/* The headers are complete before the first byte, and VAULT_VIEW has not changed them yet. */
static void read_headers(request_rec *r, const keep_t *k)
{
    vault_recording_t *rec = vault_recorded(r);

    rec->metadata.type = r->content_type;
    vault_cache_headers_read(rec, r, k->before, k->err_before);
    if (vault_headers_say_compressed(r)) { /* by its handler: mod_deflate comes later */
        vault_recording_drop(rec, VAULT_PERSONAL_NOT, "it is compressed");
    }
    if (!rec->personal && !rec->opaque) {
        vault_cache_interests_keep(rec, k->key);
    }
    if (rec->personal || rec->opaque || rec->dropped) {
        end_recording(r, "", 0); /* now, since others may wait for its end */
    }
}

/* After the response was passed on: the client does not wait for the other servers. */
static apr_status_t pass(ap_filter_t *f, keep_t *k, apr_bucket_brigade *bb)
{
    apr_status_t rv = ap_pass_brigade(f->next, bb);

    if (k->body && k->shared) {
        vault_cache_socache_store(f->r, k->key, k->shared, &k->ref, k->body);
    }
    return rv;
}

/* The status is known with the first bytes. An error says nothing about other responses of this URL. */
static void begin(request_rec *r, keep_t *k)
{
    int status;

    k->has_headers = 1;
    if (vault_recorded(r) && r->status != HTTP_OK) {
        end_recording(r, NULL, 0);
    }
    else if (vault_recorded(r)) {
        read_headers(r, k);
    }
    k->replaced = r->status >= HTTP_INTERNAL_SERVER_ERROR && vault_cache_stale_replace(r, k->stale, &status);
}

static apr_status_t filter_keep(ap_filter_t *f, apr_bucket_brigade *bb)
{
    keep_t *k = f->ctx;
    apr_bucket *b;

    if (!k->has_headers) {
        begin(f->r, k);
    }
    if (k->replaced) {
        return apr_brigade_cleanup(bb);
    }
    for (b = APR_BRIGADE_FIRST(bb); b != APR_BRIGADE_SENTINEL(bb); b = APR_BUCKET_NEXT(b)) {
        if (APR_BUCKET_IS_EOS(b)) {
            finish(f, k);
            ap_remove_output_filter(f);
            break;
        }
        if (!vault_recorded(f->r) || !collect(f, k, b)) {
            stop_collecting(f, k);
            ap_remove_output_filter(f);
            break;
        }
    }
    return pass(f, k, bb);
}

static int has_flush(const apr_bucket_brigade *bb)
{
    const apr_bucket *b;

    for (b = APR_BRIGADE_FIRST(bb); b != APR_BRIGADE_SENTINEL(bb); b = APR_BUCKET_NEXT(b)) {
        if (APR_BUCKET_IS_FLUSH(b)) {
            return 1;
        }
    }
    return 0;
}

/* Others wait for the end of the recording, and the client of this request may be slow to read. So the response is held
 * back until it is complete, unless its handler flushes it. After VAULT_VIEW, which decides by what has passed. */
static apr_status_t filter_hold(ap_filter_t *f, apr_bucket_brigade *bb)
{
    apr_bucket_brigade **held = (apr_bucket_brigade **)&f->ctx;

    if (vault_recorded(f->r) && !has_flush(bb)) {
        return ap_save_brigade(f, held, &bb, f->r->pool);
    }
    if (*held) {
        APR_BRIGADE_PREPEND(bb, *held);
    }
    if (!vault_recorded(f->r)) {
        ap_remove_output_filter(f);
    }
    return ap_pass_brigade(f->next, bb);
}

void vault_cache_keep_insert(request_rec *r, const char *key, const char *shared, const vault_cache_stale_t *stale)
{
    keep_t *k = apr_pcalloc(r->pool, sizeof(*k));

    k->key = key;
    k->shared = shared;
    k->stale = stale;
    k->all = apr_brigade_create(r->pool, r->connection->bucket_alloc);
    k->before = apr_table_copy(r->pool, r->headers_out);
    k->err_before = apr_table_copy(r->pool, r->err_headers_out);
    ap_add_output_filter_handle(keep_filter, k, r, r->connection);
    ap_add_output_filter_handle(hold_filter, NULL, r, r->connection);
}

int vault_cache_keep_fail(request_rec *r)
{
    const ap_filter_t *f;

    for (f = r->output_filters; f && f->frec != keep_filter; f = f->next) {
    }
    if (!f || ((const keep_t *)f->ctx)->has_headers) {
        return 0;
    }
    if (vault_recorded(r)) {
        end_recording(r, NULL, 0);
    }
    return 1;
}

void vault_cache_keep_abandon(request_rec *r)
{
    if (!r->main && vault_recorded(r)) {
        end_recording(r, NULL, 0);
    }
}

struct ap_filter_t *vault_cache_keep_next(request_rec *r)
{
    ap_filter_t *f = r->output_filters;

    while (f && f->frec->ftype <= KEEP_TYPE) {
        f = f->next;
    }
    return f;
}

void vault_cache_keep_hooks(void)
{
    keep_filter = ap_register_output_filter("VAULT_KEEP", filter_keep, NULL, KEEP_TYPE);
    ap_hook_insert_error_filter(vault_cache_keep_abandon, NULL, NULL, APR_HOOK_MIDDLE);
    hold_filter = ap_register_output_filter("VAULT_HOLD", filter_hold, NULL, AP_FTYPE_CONTENT_SET);
}
