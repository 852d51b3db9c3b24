/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the form of a kept response, and keeps what the compressing filters of httpd make. */
#include "cache/cache_forms.h"

#include "apr_strings.h"
#include "http_protocol.h"
#include "util_filter.h"

#include "recording/judge.h"
#include "server/server.h"

/* After the filters that change the content, and before those of the protocol, which cut out ranges. */
#define FORM_TYPE (AP_FTYPE_PROTOCOL - 1)

static ap_filter_rec_t *form_filter;

/* ------------------------------------------------------------------ choosing */

static int has_variable(const request_rec *r, const char *name)
{
    return apr_table_get(r->subprocess_env, name) != NULL;
}

/* mod_deflate has a variable for browsers that can decompress HTML only. */
static int may_gzip(const request_rec *r, const char *type)
{
    return vault_judge_has_filter(r, "deflate") && !has_variable(r, "no-gzip") &&
           !(has_variable(r, "gzip-only-text/html") && (!type || strncmp(type, "text/html", 9)));
}

/* The forms that the filters of the request may make. */
static unsigned offered(const request_rec *r, const char *type)
{
    unsigned set = 0;

    if (has_variable(r, "force-gzip")) { /* whatever the client accepts: mod_deflate decides */
        return 0;
    }
    if (may_gzip(r, type)) {
        set |= VAULT_OUTPUT_FORM_BIT(VAULT_OUTPUT_GZIP);
    }
    if (vault_judge_has_filter(r, "brotli_compress") && !has_variable(r, "no-brotli")) {
        set |= VAULT_OUTPUT_FORM_BIT(VAULT_OUTPUT_BROTLI);
    }
    return set;
}

const char *vault_cache_forms_narrow(request_rec *r, vault_output_form_t form)
{
    const char *accept = apr_table_get(r->headers_in, "Accept-Encoding"), *coding = vault_output_form_coding(form);

    if (accept) {
        apr_table_setn(r->headers_in, "Accept-Encoding", coding ? coding : "identity");
    }
    return accept;
}

vault_output_form_t vault_cache_forms_choose(const request_rec *r, const char *type, const vault_output_entry_t *entry)
{
    return vault_output_form_choose(apr_table_get(r->headers_in, "Accept-Encoding"),
                                    offered(r, type) & ~entry->refused);
}

const char *vault_cache_forms_tag(const char *etag, vault_output_form_t form, apr_pool_t *pool)
{
    apr_size_t length = strlen(etag);

    return length > 2 && etag[length - 1] == '"'
               ? apr_psprintf(pool, "%.*s%s\"", (int)length - 1, etag, vault_output_form_suffix(form))
               : etag;
}

/* -------------------------------------------------------------------- keeping */

typedef struct form_ctx_t {
    vault_output_entry_t entry;
    vault_output_form_t form;
    request_rec *r;
    apr_bucket_brigade *all;
    const char *etag; /* of the form */
} form_ctx_t;

static apr_status_t abandon_form(void *data)
{
    form_ctx_t *m = data;

    if (!vault_server->ends) {
        vault_output_abandon_form(vault_server->outputs, &m->entry, m->form);
    }
    return APR_SUCCESS;
}

static int has_error(const apr_bucket_brigade *bb)
{
    const apr_bucket *b;

    for (b = APR_BRIGADE_FIRST(bb); b != APR_BRIGADE_SENTINEL(bb); b = APR_BUCKET_NEXT(b)) {
        if (AP_BUCKET_IS_ERROR(b)) {
            return 1;
        }
    }
    return 0;
}

/* The filters may have left the response as it is, since it is small, or of a type that is not configured. */
static void keep_form(form_ctx_t *m)
{
    const char *coding = apr_table_get(m->r->headers_out, "Content-Encoding");
    apr_size_t size = 0;
    char *text = NULL;

    if (has_error(m->all) || (coding && ap_cstr_casecmp(coding, vault_output_form_coding(m->form)))) {
        return;
    }
    if (coding && apr_brigade_pflatten(m->all, &text, &size, m->r->pool) != APR_SUCCESS) {
        return;
    }
    if (coding && m->etag) {
        apr_table_setn(m->r->headers_out, "ETag", m->etag);
    }
    vault_output_add_form(vault_server->outputs, &m->entry, m->form, text, size);
}

/* The whole form is collected before the client has any of it: a slow client must not delay others. */
static apr_status_t filter_form(ap_filter_t *f, apr_bucket_brigade *bb)
{
    form_ctx_t *m = f->ctx;
    apr_bucket *last = APR_BRIGADE_EMPTY(bb) ? NULL : APR_BRIGADE_LAST(bb);

    if (!last || !APR_BUCKET_IS_EOS(last)) {
        return ap_save_brigade(f, &m->all, &bb, f->r->pool);
    }
    APR_BRIGADE_PREPEND(bb, m->all);
    APR_BRIGADE_CONCAT(m->all, bb);
    keep_form(m);
    apr_pool_cleanup_run(f->r->pool, m, abandon_form);
    ap_remove_output_filter(f);
    return ap_pass_brigade(f->next, m->all);
}

void vault_cache_forms_keep(request_rec *r, const vault_output_entry_t *entry, vault_output_form_t form)
{
    const char *etag = apr_table_get(r->headers_out, "ETag");
    form_ctx_t *m;

    if (r->header_only || !vault_output_claim_form(vault_server->outputs, entry, form)) {
        return;
    }
    m = apr_pcalloc(r->pool, sizeof(*m));
    m->entry = *entry;
    m->form = form;
    m->r = r;
    m->all = apr_brigade_create(r->pool, r->connection->bucket_alloc);
    m->etag = etag ? vault_cache_forms_tag(etag, form, r->pool) : NULL;
    apr_pool_cleanup_register(r->pool, m, abandon_form, apr_pool_cleanup_null);
    ap_add_output_filter_handle(form_filter, m, r, r->connection);
}

void vault_cache_forms_hooks(void)
{
    form_filter = ap_register_output_filter("VAULT_FORM", filter_form, NULL, FORM_TYPE);
}
