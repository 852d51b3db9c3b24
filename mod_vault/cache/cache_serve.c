/* SPDX-License-Identifier: Apache-2.0 */
/* Answers a request with a kept response. */
#include "cache/cache_serve.h"

#include "apr_strings.h"
#include "http_protocol.h"
#include "http_request.h"
#include "util_filter.h"

#include "base/now.h"
#include "cache/cache_forms.h"
#include "cache/cache_headers.h"
#include "cache/cache_keep.h"
#include "output/output_metadata.h"
#include "recording/includes.h"
#include "server/server.h"
#include "view/context.h"
#include "view/view_conf.h"

/* The page of a kept view, with its methods. @return 0: it cannot be made; the handler runs, and reports that */
static int make_page(request_rec *r, const vault_output_entry_t *entry, const vault_output_metadata_t *metadata)
{
    vault_page_txn_t *txn = vault_context_txn(r, NULL);
    vault_context_t *x = vault_context_get(r);
    int i, max = vault_view_conf_max_methods(vault_view_conf_of(r));

    if (!txn || !vault_page_txn_hold_deps(txn, entry->deps, entry->dep_count)) {
        return 0;
    }
    for (i = 0; i < metadata->polls->nelts; i++) {
        if (vault_page_txn_add_method(txn, APR_ARRAY_IDX(metadata->polls, i, vault_property_t).key, max) !=
            APR_SUCCESS) {
            return 0;
        }
    }
    x->has_poll = 1;
    x->has_script = (metadata->flags & VAULT_METADATA_SCRIPT) != 0;
    x->has_stream = (metadata->flags & VAULT_METADATA_STREAM) != 0;
    return 1;
}

/* The entry has become outdated: removes what it gave the page, since the handler runs and decides again. */
static void reset_page(request_rec *r, const vault_output_metadata_t *metadata)
{
    vault_context_t *x = vault_context_get(r);
    int i;

    x->has_poll = x->has_script = x->has_stream = 0;
    for (i = 0; x->txn && i < metadata->polls->nelts; i++) {
        vault_page_txn_remove_method(x->txn, APR_ARRAY_IDX(metadata->polls, i, vault_property_t).key);
    }
}

static int has_form(const vault_output_entry_t *entry, vault_output_form_t form)
{
    return (entry->forms & VAULT_OUTPUT_FORM_BIT(form)) != 0;
}

/* Add a part of the body to what is sent. */
static void add_part(apr_bucket_brigade *bb, const vault_output_body_t *body, apr_size_t from, apr_size_t to)
{
    if (from >= to) {
        return;
    }
    if (body->file) {
        apr_brigade_insert_file(bb, body->file, (apr_off_t)from, (apr_off_t)(to - from), bb->p);
    }
    else {
        APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_pool_create(body->text + from, to - from, bb->p, bb->bucket_alloc));
    }
}

/* @param id_offsets  where the id of the request's page goes, ascending */
static apr_status_t write_body(request_rec *r, const vault_output_body_t *body, const apr_array_header_t *id_offsets)
{
    apr_bucket_brigade *bb = apr_brigade_create(r->pool, r->connection->bucket_alloc);
    char *id = apr_palloc(r->pool, VAULT_PAGE_ID_LEN + 1);
    apr_size_t at = 0;
    int i;

    if (id_offsets->nelts) {
        vault_page_format(&vault_context_get(r)->page, id);
    }
    for (i = 0; i < id_offsets->nelts; i++) {
        apr_size_t offset = APR_ARRAY_IDX(id_offsets, i, apr_uint32_t);
        if (offset >= at && offset + VAULT_PAGE_ID_LEN <= body->size) {
            add_part(bb, body, at, offset);
            APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_pool_create(id, VAULT_PAGE_ID_LEN, r->pool, bb->bucket_alloc));
            at = offset + VAULT_PAGE_ID_LEN;
        }
    }
    add_part(bb, body, at, body->size);
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_eos_create(bb->bucket_alloc));
    return ap_pass_brigade(vault_cache_keep_next(r), bb);
}

/* A form is another representation: it has its own tag, and caches must know what chooses it. */
static void write_form(request_rec *r, const vault_output_entry_t *entry, vault_output_form_t form)
{
    const char *etag = apr_table_get(r->headers_out, "ETag");

    if (etag && form != VAULT_OUTPUT_PLAIN) {
        apr_table_setn(r->headers_out, "ETag", vault_cache_forms_tag(etag, form, r->pool));
    }
    if (entry->forms != VAULT_OUTPUT_FORM_BIT(VAULT_OUTPUT_PLAIN)) {
        apr_table_mergen(r->headers_out, "Vary", "Accept-Encoding");
    }
}

/* For a response without a body: keeps the filters of httpd from adding their suffix to the tag again. */
static int disable_compression(request_rec *r, int status)
{
    apr_table_setn(r->subprocess_env, "no-gzip", "1");
    apr_table_setn(r->subprocess_env, "no-brotli", "1");
    return status;
}

/* @param form  that the client is to have, whether it was made yet or not
 * @return OK: the body is to be sent */
static int prepare_form(request_rec *r, const vault_output_entry_t *entry, vault_output_form_t form)
{
    const char *plain_tag = apr_table_get(r->headers_out, "ETag");
    int status;

    write_form(r, entry, form);
    if ((status = ap_meets_conditions(r)) != OK) {
        return form == VAULT_OUTPUT_PLAIN ? status : disable_compression(r, status);
    }
    if (has_form(entry, form)) {
        r->content_encoding = vault_output_form_coding(form);
    }
    else {
        if (plain_tag) {
            apr_table_setn(r->headers_out, "ETag", plain_tag);
        }
        vault_cache_forms_keep(r, entry, form);
    }
    if (r->content_encoding) {
        apr_table_unset(r->headers_out, "Content-MD5");
    }
    return OK;
}

static int is_usable(const vault_output_entry_t *entry, int stale)
{
    return vault_output_is_current(vault_server->outputs, entry, vault_now()) ||
           (stale && vault_output_may_be_stale(vault_server->outputs, entry, vault_now()));
}

/* @return 0: it is gone, or no longer usable */
static int read_body(const request_rec *r, const vault_output_entry_t *entry, int stale, vault_output_form_t form,
                     vault_output_body_t *body)
{
    return is_usable(entry, stale) &&
           vault_output_body(vault_server->outputs, entry, has_form(entry, form) ? form : VAULT_OUTPUT_PLAIN, body,
                             r->pool) == APR_SUCCESS;
}

static apr_status_t send_body(request_rec *r, const vault_output_metadata_t *metadata, vault_output_form_t form,
                              const vault_output_body_t *body, int live)
{
    const char *accept = live ? NULL : vault_cache_forms_narrow(r, form);
    apr_status_t rv = write_body(r, body, metadata->id_offsets);

    if (accept) {
        apr_table_setn(r->headers_in, "Accept-Encoding", accept);
    }
    return rv;
}

static int send_response(request_rec *r, const vault_output_metadata_t *metadata, const vault_output_entry_t *entry,
                         vault_output_form_t form, const vault_output_body_t *body)
{
    int live = metadata->polls->nelts > 0, status = OK;

    ap_set_content_type(r, apr_pstrdup(r->pool, metadata->type));
    vault_cache_headers_write(r, metadata, entry, live);
    ap_set_content_length(r, (apr_off_t)body->size);
    if (live) { /* the page becomes what the kept run has made of its own */
        vault_page_txn_take(vault_context_get(r)->txn, metadata->made);
    }
    else {
        status = prepare_form(r, entry, form);
    }
    if (status != OK) {
        return status;
    }
    return send_body(r, metadata, form, body, live) == APR_SUCCESS ? OK : AP_FILTER_ERROR;
}

int vault_cache_serve(request_rec *r, const vault_output_entry_t *entry, int stale, int *status)
{
    vault_output_form_t form = VAULT_OUTPUT_PLAIN;
    vault_output_metadata_t metadata;
    vault_output_body_t body;
    int live;

    if (!vault_metadata_decode(&metadata, entry->metadata, entry->metadata_size, r->pool) ||
        !vault_cache_headers_match(&metadata, r) || !vault_metadata_files_match(&metadata, r->pool) ||
        !vault_includes_match(&metadata, r)) {
        return 0;
    }
    live = metadata.polls->nelts > 0;
    if ((live && r->header_only) || !is_usable(entry, stale)) {
        return 0;
    }
    if (live && !make_page(r, entry, &metadata)) {
        reset_page(r, &metadata);
        return 0;
    }
    if (!live) {
        form = vault_cache_forms_choose(r, metadata.type, entry);
    }
    if (!read_body(r, entry, stale, form, &body)) { /* usable, now that the page holds the interests */
        reset_page(r, &metadata);
        return 0;
    }
    vault_tally(cached, 1);
    *status = send_response(r, &metadata, entry, form, &body);
    return 1;
}
