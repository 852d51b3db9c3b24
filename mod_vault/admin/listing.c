/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over the table of pages. It copies each page under the page's own lock and then formats it, so the list
 * is not a snapshot: a page that is created or removed meanwhile may be missing.
 */
#include "admin/listing.h"

#include <jansson.h>

#include "apr_strings.h"
#include "http_protocol.h"

#include "admin/explain.h"
#include "base/now.h"
#include "mod_vault/vault.h"
#include "page/page_facts.h"
#include "page/page_name.h"
#include "request/reply.h"
#include "server/server.h"

/* The filter of the request; NULL: any value. */
typedef struct filter_t {
    const char *owner;
    const char *interest;
    const char *state;
} filter_t;

static json_t *methods_json(const vault_state_t *s)
{
    json_t *list = json_array();
    int i;

    for (i = 0; s && i < s->methods->nelts; i++) {
        json_array_append_new(
            list, json_string(vault_explain_text(APR_ARRAY_IDX(s->methods, i, vault_method_t).url, s->methods->pool)));
    }
    return list;
}

static int has_name(const json_t *list, const char *name)
{
    apr_size_t i;

    for (i = 0; i < json_array_size(list); i++) {
        if (!strcmp(json_string_value(json_array_get(list, i)), name)) {
            return 1;
        }
    }
    return 0;
}

/* Names that are not UTF-8 are cleaned, so that every interest is shown. */
static void add_interests(json_t *list, const apr_array_header_t *deps, apr_pool_t *pool)
{
    int i;

    for (i = 0; deps && i < deps->nelts; i++) {
        const char *name = vault_explain_interest(APR_ARRAY_IDX(deps, i, vault_dep_t).interest, pool);
        if (!has_name(list, name)) {
            json_array_append_new(list, json_string(name));
        }
    }
}

static json_t *interests_json(const vault_state_t *s, apr_pool_t *pool)
{
    json_t *list = json_array();
    int i;

    for (i = 0; s && i < s->methods->nelts; i++) {
        add_interests(list, APR_ARRAY_IDX(s->methods, i, vault_method_t).deps, pool);
    }
    return list;
}

static json_t *summary(const vault_page_t *page, const vault_page_facts_t *f, apr_pool_t *pool)
{
    apr_time_t now = vault_now();
    char name[VAULT_PAGE_NAME_LEN + 1];

    vault_page_name(page, name);
    return json_pack("{s:s, s:s, s:s?, s:s, s:I, s:f, s:o, s:o}", "Page", name, "State", vault_explain_state(f, now),
                     "Owner", vault_explain_text(f->owner, pool), "Client",
                     apr_psprintf(pool, "%08x", (unsigned)(f->client >> 32)), "Bytes", (json_int_t)f->bytes,
                     "IdleSeconds", f->idle_since < now ? (double)(now - f->idle_since) / APR_USEC_PER_SEC : 0.0,
                     "Methods", methods_json(f->base), "Interests", interests_json(f->base, pool));
}

static int fits(const filter_t *filter, const json_t *page)
{
    const char *owner = json_string_value(json_object_get(page, "Owner"));
    int polled = !strcmp(json_string_value(json_object_get(page, "State")), "polled");

    return (!filter->owner || (owner && !strcmp(owner, filter->owner))) &&
           (!filter->state || polled == !strcmp(filter->state, "polled")) &&
           (!filter->interest || has_name(json_object_get(page, "Interests"), filter->interest));
}

/* @return 1: it was written */
static int write_page(request_rec *r, const filter_t *filter, const vault_page_t *page, int first, apr_pool_t *pool)
{
    vault_page_facts_t facts;
    json_t *json = NULL;
    char *text = NULL;

    if (vault_page_facts(vault_server->pages, page, &facts, pool) == APR_SUCCESS) {
        json = summary(page, &facts, pool);
    }
    if (json && fits(filter, json) && (text = json_dumps(json, JSON_COMPACT))) {
        ap_rvputs(r, first ? "\n" : ",\n", text, NULL);
        free(text);
    }
    json_decref(json);
    return text != NULL;
}

static void write_pages(request_rec *r, const filter_t *filter)
{
    apr_uint32_t i, last = vault_pages_last(vault_server->pages);
    vault_page_t page;
    apr_pool_t *pool;
    int first = 1;

    apr_pool_create(&pool, r->pool);
    for (i = 1; i <= last && !r->connection->aborted; i++) {
        if (vault_page_at(vault_server->pages, i, &page) && write_page(r, filter, &page, first, pool)) {
            first = 0;
        }
        apr_pool_clear(pool);
    }
    apr_pool_destroy(pool);
}

int vault_listing(request_rec *r)
{
    apr_table_t *params;
    filter_t filter;
    int status = vault_reply_params(r, &params, VAULT_REPLY_FORM_MAX, r->pool);

    if (status != OK) {
        return status;
    }
    filter.owner = vault_explain_text(apr_table_get(params, "owner"), r->pool);
    filter.interest = vault_explain_text(apr_table_get(params, "interest"), r->pool);
    filter.state = apr_table_get(params, "state");
    if (filter.state && strcmp(filter.state, "polled") && strcmp(filter.state, "idle")) {
        return vault_reply_error(r, HTTP_BAD_REQUEST, "state: polled or idle is accepted");
    }
    apr_table_setn(r->headers_out, "Cache-Control", "no-store");
    ap_set_content_type(r, "application/json");
    ap_rputs("{\"Pages\":[", r);
    write_pages(r, &filter);
    ap_rputs("]}\n", r);
    return OK;
}
