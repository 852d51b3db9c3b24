/* SPDX-License-Identifier: Apache-2.0 */
/* Which handlers and filters make an output personal. */
#include "recording/judge.h"

#include "apr_strings.h"
#include "http_config.h"
#include "http_core.h"
#include "http_request.h"
#include "util_filter.h"

#include "output/ssi_elements.h"
#include "recording/includes.h"

/* A longer document is not scanned: its output is personal. */
#define SCAN_MAX (1024 * 1024)
#define OPAQUE "vault-opaque"
/* Before INCLUDES and all other filters. */
#define SOURCE_TYPE (AP_FTYPE_RESOURCE - 1)

/* The name of a filter. AddOutputFilterByType puts another one in its place, which calls it if the media type fits. */
static const char *name_of(const ap_filter_t *f)
{
    static const char by_type[] = "BYTYPE:";

    return strncmp(f->frec->name, by_type, sizeof(by_type) - 1) ? f->frec->name : f->frec->name + sizeof(by_type) - 1;
}

static ap_filter_rec_t *source_filter;

/* The filters of httpd and of this module whose output depends on their input only. FIXUP_HEADERS_OUT is that of
 * Header, which changes headers after the response has been kept, for each request anew. MOD_EXPIRES sets Expires and
 * max-age by the configuration, before the response is kept: it is used until then. */
static int is_known_filter(const ap_filter_t *f)
{
    static const char *const known[] = {"includes",        "byterange", "content_length",    "subreq_core", "old_write",
                                        "brotli_compress", "deflate",   "fixup_headers_out", "mod_expires", NULL};
    const char *const *name;

    if (f->frec->ftype >= AP_FTYPE_PROTOCOL || !strncmp(f->frec->name, "vault_", 6)) {
        return 1;
    }
    for (name = known; *name; name++) {
        if (!ap_cstr_casecmp(name_of(f), *name)) {
            return 1;
        }
    }
    return 0;
}

int vault_judge_has_filter(const request_rec *r, const char *name)
{
    const ap_filter_t *f;

    for (f = r->output_filters; f; f = f->next) {
        if (!ap_cstr_casecmp(name_of(f), name)) {
            return 1;
        }
    }
    return 0;
}

/* httpd takes the media type for the name of a handler when there is none: `AddType application/x-httpd-php`. */
static int is_type_of_files(const char *type)
{
    static const char *const plain[] = {"text/html", "text/css", "text/plain", "text/javascript", "image/", NULL};
    const char *const *begin;

    for (begin = plain; type && *begin; begin++) {
        if (!strncmp(type, *begin, strlen(*begin))) {
            return 1;
        }
    }
    return 0;
}

/* If no handler is set, httpd takes the media type without its parameters for the name of one. */
static int is_handler_of_type(const char *handler, const char *type)
{
    apr_size_t n = strlen(handler);

    return !strncmp(handler, type, n) && strchr("; ", type[n]);
}

int vault_judge_is_file(const request_rec *r)
{
    return r->finfo.filetype == APR_REG && is_type_of_files(r->content_type) &&
           (!r->handler || !strcmp(r->handler, "default-handler") || !strcmp(r->handler, "server-parsed") ||
            is_handler_of_type(r->handler, r->content_type));
}

/* mod_session adds this filter to every response. It leaves the body as it is, and saves the visitor's session after
 * the response has been kept, for each request anew. A handler can set the session by a header (SessionHeader), which
 * must not be kept for others; a file cannot. */
static int is_session_filter(const ap_filter_t *f)
{
    return !ap_cstr_casecmp(f->frec->name, "mod_session_out");
}

static void judge_filters(vault_recording_t *rec, const request_rec *r)
{
    const ap_filter_t *f;
    int file = vault_judge_is_file(r);

    for (f = r->output_filters; f; f = f->next) {
        if (!is_known_filter(f) && !(file && is_session_filter(f))) {
            vault_recording_personal(
                rec, VAULT_PERSONAL_FILTER,
                apr_psprintf(rec->pool, "its output filter %s may depend on the request", f->frec->name));
        }
    }
}

static int has_directive(const ap_directive_t *d, const char *name)
{
    for (; d; d = d->next) {
        if (!ap_cstr_casecmp(d->directive, name) || has_directive(d->first_child, name)) {
            return 1;
        }
    }
    return 0;
}

/* ------------------------------------------------------------------ the file */

/* @param includes  of const char *: the URLs that the document includes are added
 * @return NULL, or why the document is personal */
static const char *scan(apr_file_t *file, apr_size_t size, apr_array_header_t *includes, apr_pool_t *pool)
{
    apr_off_t begin = 0;
    apr_size_t length = size;
    char *text;

    if (has_directive(ap_conftree, "SSIStartTag") || has_directive(ap_conftree, "SSIEndTag")) {
        return "its SSI elements have tags of the site's own";
    }
    if (size > SCAN_MAX) {
        return "its SSI document is too long to be scanned";
    }
    text = apr_palloc(pool, length + 1);
    if (apr_file_seek(file, APR_SET, &begin) != APR_SUCCESS ||
        (length && apr_file_read_full(file, text, length, &length) != APR_SUCCESS)) {
        return "its SSI document cannot be read";
    }
    return vault_ssi_personal(text, size, includes, pool);
}

/* The file, if it is all that the handler sends. */
static apr_file_t *file_of(const apr_bucket_brigade *bb, apr_size_t *size)
{
    const apr_bucket *b = APR_BRIGADE_FIRST(bb), *rest;

    if (b == APR_BRIGADE_SENTINEL(bb) || !APR_BUCKET_IS_FILE(b) || b->start) {
        return NULL;
    }
    for (rest = APR_BUCKET_NEXT(b); rest != APR_BRIGADE_SENTINEL(bb); rest = APR_BUCKET_NEXT(rest)) {
        if (!APR_BUCKET_IS_METADATA(rest)) {
            return NULL;
        }
    }
    *size = b->length;
    return APR_BUCKET_IS_EOS(APR_BRIGADE_LAST(bb)) ? ((const apr_bucket_file *)b->data)->fd : NULL;
}

/* The next request for the URL may get another file: then the metadata of this output no longer match.
 * @return NULL, or why the output is personal */
static const char *record_file(vault_recording_t *rec, request_rec *r, apr_file_t *file, apr_size_t size)
{
    apr_array_header_t *includes = apr_array_make(rec->pool, 1, sizeof(const char *));
    apr_time_t checked_at = apr_time_now();
    const char *personal = NULL;
    apr_finfo_t finfo;
    int i;

    if (apr_file_info_get(&finfo, VAULT_METADATA_STAT, file) != APR_SUCCESS || (apr_size_t)finfo.size != size) {
        return "its file cannot be looked up";
    }
    vault_recording_file(rec, r->filename, &finfo, checked_at);
    if (vault_judge_has_filter(r, "includes")) {
        personal = scan(file, size, includes, rec->pool);
    }
    for (i = 0; !personal && i < includes->nelts; i++) {
        vault_includes_record(rec, r, APR_ARRAY_IDX(includes, i, const char *));
    }
    return personal;
}

/* The first filter of a request that names a file. Modules may answer such a request by a handler of their own, such as
 * LuaMapHandler and Action; so what is seen here decides, and not the name of the handler. If the file cannot be read,
 * nothing comes here, and mod_include shows its error text in its place: then nothing says that the output is
 * shared. */
static apr_status_t filter_source(ap_filter_t *f, apr_bucket_brigade *bb)
{
    vault_recording_t *rec = f->ctx;
    apr_size_t size = 0;
    apr_file_t *file = file_of(bb, &size);
    const char *personal = file ? record_file(rec, f->r, file, size) : "another handler answers in place of its file";

    if (personal) {
        vault_recording_personal(rec, file ? VAULT_PERSONAL_SSI : VAULT_PERSONAL_HANDLER, personal);
    }
    else {
        vault_judge_share(rec, f->r);
    }
    ap_remove_output_filter(f);
    return ap_pass_brigade(f->next, bb);
}

/* ---------------------------------------------------------------- the request */

/* The only handler of this module that records what it reads. */
static int is_feed(const request_rec *r)
{
    return r->handler && !strcmp(r->handler, "vault-feed");
}

int vault_judge_knows(const request_rec *r)
{
    return vault_judge_is_file(r) || is_feed(r);
}

int vault_judge_is_plain_file(const request_rec *r)
{
    return vault_judge_is_file(r) && !vault_judge_has_filter(r, "includes");
}

/* <If> can look at all of the request, and any directive may be in it. */
int vault_judge_has_if(const request_rec *r)
{
    const core_dir_config *core = ap_get_core_module_config(r->per_dir_config);

    return core->sec_if && core->sec_if->nelts > 0;
}

/* A recording may be that of a part. Then the page that contains it is recorded, too. */
static void judge_conditions(vault_recording_t *rec, const request_rec *r)
{
    if (!vault_judge_has_if(r)) {
        return;
    }
    for (; rec; rec = rec->outer) {
        if (rec->by_construction) {
            vault_recording_personal(rec, VAULT_PERSONAL_CONDITION, "an <If> where it is may depend on the request");
        }
    }
}

int vault_judge(vault_recording_t *rec, request_rec *r, int declared)
{
    if (r->user) {
        vault_recording_drop(rec, VAULT_PERSONAL_USER, "its visitor has logged in");
    }
    judge_filters(rec, r);
    judge_conditions(rec, r);
    if (!vault_judge_is_file(r) && vault_judge_has_filter(r, "includes")) {
        vault_recording_personal(rec, VAULT_PERSONAL_SSI, "its handler writes SSI, which cannot be scanned before");
    }
    if (vault_judge_is_file(r)) {
        ap_add_output_filter_handle(source_filter, rec, r, r->connection);
    }
    if (vault_judge_is_file(r) || !declared) {
        apr_table_setn(r->notes, OPAQUE, "1");
        vault_recording_opaque(rec, apr_psprintf(rec->pool, "its handler %.60s has not said Vault-Shared: yes",
                                                 r->handler ? r->handler : "of httpd"));
    }
    return !vault_judge_knows(r);
}

const char *vault_judge_filters(const request_rec *r)
{
    const core_dir_config *core = ap_get_core_module_config(r->per_dir_config);
    const char *names = core->output_filters ? core->output_filters : "";
    const ap_filter_t *f;

    for (f = r->main ? NULL : r->output_filters; f && f->frec->ftype < AP_FTYPE_PROTOCOL; f = f->next) {
        if (strncmp(f->frec->name, "vault_", 6)) {
            names = apr_pstrcat(r->pool, names, ";", f->frec->name, NULL);
        }
    }
    return names;
}

void vault_judge_share(vault_recording_t *rec, request_rec *r)
{
    if (rec && apr_table_get(r->notes, OPAQUE)) {
        apr_table_unset(r->notes, OPAQUE);
        vault_recording_share(rec);
    }
}

void vault_judge_hooks(void)
{
    source_filter = ap_register_output_filter("VAULT_SOURCE", filter_source, NULL, SOURCE_TYPE);
}
