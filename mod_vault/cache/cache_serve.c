/* SPDX-License-Identifier: Apache-2.0 */
/* Answers a request with a kept response. */
#include "cache/cache_serve.h"

#include "apr_strings.h"
#include "http_protocol.h"
#include "http_request.h"
#include "util_filter.h"

#include "base/now.h"
#include "cache/cache_headers.h"
#include "cache/cache_keep.h"
#include "output/output_facts.h"
#include "server/server.h"
#include "view/context.h"
#include "view/view_conf.h"

/* The page of a kept view, with its methods. @return 0: it cannot be made; the handler runs, and says so */
static int make_page(request_rec *r, const vault_output_entry_t *entry, const vault_output_facts_t *facts)
{
    vault_page_txn_t *txn = vault_context_txn(r, NULL);
    vault_context_t *x = vault_context_get(r);
    int i, max = vault_view_conf_max_methods(vault_view_conf_of(r));

    if (!txn || !vault_page_txn_hold_deps(txn, entry->deps, entry->dep_count)) {
        return 0;
    }
    for (i = 0; i < facts->polls->nelts; i++) {
        if (vault_page_txn_add_method(txn, APR_ARRAY_IDX(facts->polls, i, vault_property_t).key, max) != APR_SUCCESS) {
            return 0;
        }
    }
    x->has_poll = 1;
    x->has_script = (facts->flags & VAULT_FACTS_SCRIPT) != 0;
    x->has_stream = (facts->flags & VAULT_FACTS_STREAM) != 0;
    return 1;
}

/* The entry is outdated after all: the handler runs, and decides anew what the page polls for. */
static void undo_page(request_rec *r, const vault_output_facts_t *facts)
{
    vault_context_t *x = vault_context_get(r);
    int i;

    x->has_poll = x->has_script = x->has_stream = 0;
    for (i = 0; x->txn && i < facts->polls->nelts; i++) {
        vault_page_txn_remove_method(x->txn, APR_ARRAY_IDX(facts->polls, i, vault_property_t).key);
    }
}

/* The page becomes what the kept run has made of its own. */
static void fill_page(request_rec *r, const vault_output_facts_t *facts, char *text, apr_size_t size)
{
    vault_context_t *x = vault_context_get(r);
    char id[VAULT_PAGE_ID_LEN + 1];
    int i;

    vault_page_txn_take(x->txn, facts->made);
    vault_page_format(&x->page, id);
    for (i = 0; i < facts->holes->nelts; i++) {
        apr_uint32_t at = APR_ARRAY_IDX(facts->holes, i, apr_uint32_t);
        if (size >= VAULT_PAGE_ID_LEN && at <= size - VAULT_PAGE_ID_LEN) {
            memcpy(text + at, id, VAULT_PAGE_ID_LEN);
        }
    }
}

static apr_status_t write_body(request_rec *r, const vault_output_body_t *body)
{
    apr_bucket_alloc_t *alloc = r->connection->bucket_alloc;
    apr_bucket_brigade *bb = apr_brigade_create(r->pool, alloc);

    if (body->file) {
        apr_brigade_insert_file(bb, body->file, 0, (apr_off_t)body->size, r->pool);
    }
    else if (body->size) {
        APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_pool_create(body->text, body->size, r->pool, alloc));
    }
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_eos_create(alloc));
    return ap_pass_brigade(vault_cache_keep_next(r), bb);
}

static int send_all(request_rec *r, const vault_output_facts_t *facts, const vault_output_entry_t *entry,
                    const vault_output_body_t *body, int live)
{
    ap_set_content_type(r, apr_pstrdup(r->pool, facts->type));
    vault_cache_headers_write(r, facts, entry, live);
    ap_set_content_length(r, (apr_off_t)body->size);
    if (!live) {
        int status = ap_meets_conditions(r);
        if (status != OK) {
            return status;
        }
    }
    return write_body(r, body) == APR_SUCCESS ? OK : AP_FILTER_ERROR;
}

/* @return 0: it is gone, or no longer current */
static int read_body(const request_rec *r, const vault_output_entry_t *entry, vault_output_body_t *body)
{
    return vault_output_is_current(vault_server->outputs, entry, vault_now()) &&
           vault_output_body(vault_server->outputs, entry, VAULT_OUTPUT_PLAIN, body, r->pool) == APR_SUCCESS;
}

int vault_cache_serve(request_rec *r, const vault_output_entry_t *entry, int *status)
{
    vault_output_facts_t facts;
    vault_output_body_t body;
    int live;

    if (!vault_facts_decode(&facts, entry->facts, entry->facts_size, r->pool) || !vault_cache_headers_fit(&facts, r) ||
        !vault_facts_files_hold(&facts, r->pool)) {
        return 0;
    }
    live = facts.polls->nelts > 0;
    if ((live && r->header_only) || !vault_output_is_current(vault_server->outputs, entry, vault_now())) {
        return 0;
    }
    if (live && !make_page(r, entry, &facts)) {
        undo_page(r, &facts);
        return 0;
    }
    if (!read_body(r, entry, &body) || (live && !body.text)) { /* current, now that the page holds the interests */
        undo_page(r, &facts);
        return 0;
    }
    if (live) {
        fill_page(r, &facts, (char *)body.text, body.size);
    }
    vault_tally(cached, 1);
    *status = send_all(r, &facts, entry, &body, live);
    return 1;
}
