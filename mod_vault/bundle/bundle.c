/* SPDX-License-Identifier: Apache-2.0 */
/* The URLs of bundles: they are recognized before other modules translate them, and answered by a handler. */
#include "bundle/bundle.h"

#include <string.h>

#include "apr_lib.h"
#include "apr_strings.h"
#include "http_core.h"
#include "http_protocol.h"
#include "http_request.h"

#include "bundle/bundle_body.h"
#include "bundle/bundle_conf.h"
#include "server/server.h"
#include "view/recorded.h"

APLOG_USE_MODULE(vault);

#define HANDLER "vault-bundle"
/* A note of a request for a bundle: the hash in its URL; "": none. */
#define HASH_NOTE "vault-bundle"
#define HASH_DIGITS 16
#define CACHE_FOR_A_YEAR "max-age=31536000, immutable"
#define CACHE_FOR_A_MINUTE "max-age=60"

/* ---------------------------------------------------------------------- URLs */

static int is_hash(const char *text)
{
    int i = 0;

    while (i < HASH_DIGITS && (apr_isdigit(text[i]) || (text[i] >= 'a' && text[i] <= 'f'))) {
        i++;
    }
    return i == HASH_DIGITS;
}

/* @return the hash in `uri`; "": it has none; NULL: it is not a URL of this bundle */
static const char *match(const vault_bundle_t *b, const char *uri, apr_pool_t *pool)
{
    apr_size_t stem = strlen(b->stem);

    if (strncmp(uri, b->stem, stem)) {
        return NULL;
    }
    uri += stem;
    if (!strcmp(uri, b->type)) {
        return "";
    }
    return *uri == '-' && is_hash(uri + 1) && !strcmp(uri + 1 + HASH_DIGITS, b->type)
               ? apr_pstrmemdup(pool, uri + 1, HASH_DIGITS)
               : NULL;
}

static const vault_bundle_t *find(const vault_bundle_conf_t *l, const char *uri, const char **hash, apr_pool_t *pool)
{
    int i;

    for (i = 0; l && l->bundles && i < l->bundles->nelts; i++) {
        const vault_bundle_t *b = APR_ARRAY_IDX(l->bundles, i, const vault_bundle_t *);
        if ((*hash = match(b, uri, pool))) {
            return b;
        }
    }
    return NULL;
}

static const char *hash_text(apr_uint64_t hash, apr_pool_t *pool)
{
    return apr_psprintf(pool, "%0*" APR_UINT64_T_HEX_FMT, HASH_DIGITS, hash);
}

/* An output with the URL is outdated when a file changes. */
static void record_files(request_rec *r, const vault_bundle_t *b)
{
    int i;

    for (i = 0; i < b->files.paths->nelts; i++) {
        vault_recording_path(vault_recorded(r), APR_ARRAY_IDX(b->files.paths, i, const char *));
    }
}

const char *vault_bundle_url(request_rec *r, const char *url)
{
    const char *hash_in_url = NULL, *error;
    const vault_bundle_t *b = find(vault_bundle_conf_of(r), url, &hash_in_url, r->pool);
    vault_bundle_stat_t *stats;
    apr_uint64_t hash;

    if (!b || *hash_in_url) {
        return NULL;
    }
    record_files(r, b);
    if ((error = vault_bundle_body_hash(r, b, &stats, &hash))) {
        vault_bundle_body_log_error(r, b, error);
        return b->url;
    }
    return apr_pstrcat(r->pool, b->stem, "-", hash_text(hash, r->pool), b->type, NULL);
}

/* -------------------------------------------------------------------- request */

/* Before the rewrite rules of the virtual host and ProxyPass. The URL with a hash becomes that of the directive, so
 * sections of the configuration need to know only that one. */
static int translate(request_rec *r)
{
    const core_server_config *core = ap_get_core_module_config(r->server->module_config);
    const char *hash = NULL;
    const vault_bundle_t *b = find(vault_bundle_conf_of(r), r->uri, &hash, r->pool);

    if (!b) {
        return DECLINED;
    }
    apr_table_setn(r->notes, HASH_NOTE, hash);
    r->uri = apr_pstrdup(r->pool, b->url);
    r->filename = apr_pstrcat(r->pool, core->ap_document_root, b->url, NULL);
    r->canonical_filename = r->filename;
    return OK;
}

/* MultiViews and FallbackResource take URLs without a file. */
static int pretend_file(request_rec *r)
{
    if (apr_table_get(r->notes, HASH_NOTE) && r->finfo.filetype == APR_NOFILE) {
        r->finfo.filetype = APR_REG;
    }
    return DECLINED;
}

/* After the rewrite rules of .htaccess files. */
static int choose_handler(request_rec *r)
{
    if (apr_table_get(r->notes, HASH_NOTE)) {
        r->handler = HANDLER;
    }
    return DECLINED;
}

/* -------------------------------------------------------------------- answer */

static void set_caching(request_rec *r, int lasts)
{
    apr_time_t expires = r->request_time + apr_time_from_sec(lasts ? 31536000 : 60);
    char *date = apr_palloc(r->pool, APR_RFC822_DATE_LEN);

    apr_rfc822_date(date, expires);
    apr_table_setn(r->headers_out, "Cache-Control", lasts ? CACHE_FOR_A_YEAR : CACHE_FOR_A_MINUTE);
    apr_table_setn(r->headers_out, "Expires", date); /* otherwise mod_expires would add another max-age */
}

static void set_headers(request_rec *r, const vault_bundle_t *b, const vault_bundle_body_t *body)
{
    static const char *const types[VAULT_BUNDLE_KINDS] = {
        [VAULT_BUNDLE_CSS] = "text/css; charset=utf-8",
        [VAULT_BUNDLE_JS] = "text/javascript; charset=utf-8",
        [VAULT_BUNDLE_HTML] = "text/html; charset=utf-8",
    };

    ap_set_content_type(r, types[b->kind]);
    ap_set_content_length(r, (apr_off_t)body->size);
    ap_set_accept_ranges(r);
    apr_table_mergen(r->headers_out, "Vary", "Accept-Encoding");
    apr_table_setn(
        r->headers_out, "ETag",
        apr_psprintf(r->pool, "\"%016" APR_UINT64_T_HEX_FMT "%s\"", body->etag, vault_output_form_suffix(body->form)));
    r->content_encoding = vault_output_form_coding(body->form);
    if (body->is_kept) { /* for mod_deflate and mod_brotli */
        apr_table_setn(r->subprocess_env, "no-gzip", "1");
        apr_table_setn(r->subprocess_env, "no-brotli", "1");
    }
}

static int send_body(request_rec *r, const vault_bundle_body_t *body)
{
    apr_bucket_alloc_t *ba = r->connection->bucket_alloc;
    apr_bucket_brigade *bb = apr_brigade_create(r->pool, ba);
    int status = r->main ? OK : ap_meets_conditions(r); /* a subrequest has its client's headers */

    if (status != OK) {
        return status;
    }
    if (body->file) {
        apr_brigade_insert_file(bb, body->file, 0, (apr_off_t)body->size, r->pool);
    }
    else {
        APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_pool_create(body->text, body->size, r->pool, ba));
    }
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_eos_create(ba));
    ap_pass_brigade(r->output_filters, bb);
    return OK; /* a client that has disconnected is not a failure of this handler */
}

/* Is the hash in the URL that of the current content? */
static int is_current_hash(const request_rec *r, apr_uint64_t hash)
{
    return !strcmp(apr_table_get(r->notes, HASH_NOTE), hash_text(hash, r->pool));
}

static int check_method(request_rec *r)
{
    ap_allow_standard_methods(r, REPLACE_ALLOW, M_GET, -1);
    if (r->method_number == M_OPTIONS) {
        return DECLINED;
    }
    return r->method_number == M_GET ? ap_discard_request_body(r) : HTTP_METHOD_NOT_ALLOWED;
}

static int answer(request_rec *r, const vault_bundle_t *b)
{
    vault_bundle_body_t body = {.text = NULL};
    vault_bundle_stat_t *stats, *hashed;
    apr_uint64_t hash = 0;
    const char *error = vault_bundle_body_hash(r, b, &stats, &hash);
    int status;

    hashed = stats;
    if (error) {
        vault_bundle_body_log_error(r, b, error);
        status = vault_bundle_body_find_older(r, b, &body) == OK ? OK : HTTP_SERVICE_UNAVAILABLE;
    }
    else {
        status = vault_bundle_body_find(r, b, &stats, &body);
    }
    if (status != OK) {
        return status;
    }
    set_headers(r, b, &body);
    /* If a file has changed since then, the hash is that of another body. */
    set_caching(r, !error && stats == hashed && body.is_final && is_current_hash(r, hash));
    return send_body(r, &body);
}

static int handler(request_rec *r)
{
    const char *hash = NULL;
    const vault_bundle_t *b;
    int status;

    if (!r->handler || strcmp(r->handler, HANDLER) || !apr_table_get(r->notes, HASH_NOTE) ||
        !(b = find(vault_bundle_conf_of(r), r->uri, &hash, r->pool))) {
        return DECLINED;
    }
    status = check_method(r);
    return status == OK ? answer(r, b) : status;
}

void vault_bundle_hooks(void)
{
    ap_hook_translate_name(translate, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_type_checker(pretend_file, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_fixups(choose_handler, NULL, NULL, APR_HOOK_REALLY_LAST);
    ap_hook_handler(handler, NULL, NULL, APR_HOOK_MIDDLE);
    vault_bundle_conf_hooks();
}
