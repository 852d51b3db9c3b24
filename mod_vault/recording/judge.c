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
#include "request/own_handlers.h"

/* A longer document is not scanned: its output is personal. */
#define SCAN_MAX (1024 * 1024)
#define OPAQUE "vault-opaque"

/* The name of a filter. AddOutputFilterByType puts another one in its place, which calls it if the media type fits. */
static const char *name_of(const ap_filter_t *f)
{
    static const char by_type[] = "BYTYPE:";

    return strncmp(f->frec->name, by_type, sizeof(by_type) - 1) ? f->frec->name : f->frec->name + sizeof(by_type) - 1;
}

/* The filters of httpd and of this module whose output depends on their input only. */
static int is_known_filter(const ap_filter_t *f)
{
    static const char *const known[] = {"includes",  "byterange",       "content_length", "subreq_core",
                                        "old_write", "brotli_compress", "deflate",        NULL};
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

static void judge_filters(vault_recording_t *rec, const request_rec *r)
{
    const ap_filter_t *f;

    for (f = r->output_filters; f; f = f->next) {
        if (!is_known_filter(f)) {
            vault_recording_personal(
                rec, VAULT_PERSONAL_FILTER,
                apr_psprintf(rec->pool, "its output filter %s may depend on the request", f->frec->name));
        }
    }
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

/* Is the answer the content of the file that the URL names? */
static int is_file(const request_rec *r)
{
    return r->finfo.filetype == APR_REG && is_type_of_files(r->content_type) &&
           (!r->handler || !strcmp(r->handler, "default-handler") || !strcmp(r->handler, "server-parsed") ||
            !strcmp(r->handler, r->content_type));
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

/* @param includes  of const char *: the URLs that the document includes are added */
static const char *scan(const request_rec *r, apr_array_header_t *includes, apr_pool_t *pool)
{
    apr_size_t length = (apr_size_t)r->finfo.size;
    apr_file_t *file;
    char *text;

    if (has_directive(ap_conftree, "SSIStartTag") || has_directive(ap_conftree, "SSIEndTag")) {
        return "its SSI elements have tags of the site's own";
    }
    if (r->finfo.size > SCAN_MAX) {
        return "its SSI document is too long to be scanned";
    }
    if (apr_file_open(&file, r->filename, APR_READ, APR_OS_DEFAULT, pool) != APR_SUCCESS) {
        return "its SSI document cannot be read";
    }
    text = apr_palloc(pool, length + 1);
    if (apr_file_read_full(file, text, length, &length) != APR_SUCCESS) {
        length = 0;
    }
    apr_file_close(file);
    return length == (apr_size_t)r->finfo.size ? vault_ssi_personal(text, length, includes, pool)
                                               : "its SSI document cannot be read";
}

static int can_be_read(const request_rec *r, apr_pool_t *pool)
{
    apr_file_t *file;
    apr_status_t rv = apr_file_open(&file, r->filename, APR_READ, APR_OS_DEFAULT, pool);

    return rv == APR_SUCCESS && apr_file_close(file) == APR_SUCCESS;
}

/* A file that cannot be read fails only when its handler runs, and so mod_include shows its error text in its place. */
static void judge_file(vault_recording_t *rec, request_rec *r)
{
    apr_array_header_t *includes = apr_array_make(rec->pool, 1, sizeof(const char *));
    const char *personal = vault_judge_has_filter(r, "includes") ? scan(r, includes, rec->pool)
                           : can_be_read(r, rec->pool)           ? NULL
                                                                 : "its file cannot be read";
    int i;

    vault_recording_file(rec, r->filename, &r->finfo);
    if (personal) {
        vault_recording_personal(rec, VAULT_PERSONAL_SSI, personal);
        return;
    }
    for (i = 0; i < includes->nelts; i++) {
        vault_includes_record(rec, r, APR_ARRAY_IDX(includes, i, const char *));
    }
}

int vault_judge_knows(const request_rec *r)
{
    return is_file(r) || vault_own_handler(r);
}

int vault_judge_is_plain_file(const request_rec *r)
{
    return is_file(r) && !vault_judge_has_filter(r, "includes");
}

int vault_judge(vault_recording_t *rec, request_rec *r, int declared)
{
    if (r->user) {
        vault_recording_personal(rec, VAULT_PERSONAL_USER, "its visitor has logged in");
    }
    judge_filters(rec, r);
    if (is_file(r)) {
        judge_file(rec, r);
    }
    else if (vault_judge_has_filter(r, "includes")) {
        vault_recording_personal(rec, VAULT_PERSONAL_SSI, "its handler writes SSI, which cannot be scanned before");
    }
    if (vault_judge_knows(r)) {
        return 0;
    }
    if (!declared) {
        apr_table_setn(r->notes, OPAQUE, "1");
        vault_recording_opaque(rec, apr_psprintf(rec->pool, "its handler %.60s has not said Vault-Shared: yes",
                                                 r->handler ? r->handler : "of httpd"));
    }
    return 1;
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
