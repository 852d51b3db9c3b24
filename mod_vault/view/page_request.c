/* SPDX-License-Identifier: Apache-2.0 */
/* Removes the request headers that only httpd may set, and sets them: the page that sent the request, or the page that
 * the response may become. */
#include "view/page_request.h"

#include "apr_strings.h"
#include "http_log.h"
#include "http_protocol.h"
#include "http_request.h"
#include "util_filter.h"

#include "base/header_text.h"
#include "request/realm.h"
#include "server/log.h"
#include "server/server.h"
#include "store/store.h"
#include "session/session_request.h"
#include "view/context.h"
#include "view/feed_key.h"
#include "view/view.h"
#include "view/view_conf.h"

APLOG_USE_MODULE(vault);

#define SAYS "X-Vault-Page"

static ap_filter_rec_t *trailers_filter;

/* The application can write the stream's URL into its HTML. If it has a key, it can also call feeds for the
 * rows of this page. */
static void tell_new_page(request_rec *r, const vault_context_t *x)
{
    char id[VAULT_PAGE_ID_LEN + 1];

    vault_page_format(&x->page, id);
    apr_table_set(r->headers_in, "Vault-New-Page", x->calls.run ? vault_feed_key_format(&x->calls, r->pool) : id);
    apr_table_setn(r->headers_in, "Vault-Stream", vault_context_stream_url(r));
}

/* @return 1: at least one such header was removed */
static int take_headers(apr_table_t *headers, apr_pool_t *pool)
{
    const apr_array_header_t *list = apr_table_elts(headers);
    apr_array_header_t *forged = apr_array_make(pool, 1, sizeof(const char *));
    int i;

    for (i = 0; i < list->nelts; i++) {
        const char *name = APR_ARRAY_IDX(list, i, apr_table_entry_t).key;
        if (name && vault_header_is_reserved(name)) {
            APR_ARRAY_PUSH(forged, const char *) = name;
        }
    }
    for (i = 0; i < forged->nelts; i++) {
        apr_table_unset(headers, APR_ARRAY_IDX(forged, i, const char *));
    }
    return forged->nelts != 0;
}

/* Removes the module's headers from the names in `Connection`, since mod_proxy would not forward the headers
 * named there, no matter who has set them. @return 1: at least one name was removed */
static int take_names(apr_table_t *headers, apr_pool_t *pool)
{
    const char *names = apr_table_getm(pool, headers, "Connection");
    const char *others = names ? vault_header_others(names, pool) : NULL;

    if (!others) {
        return 0;
    }
    if (*others) {
        apr_table_setn(headers, "Connection", others);
    }
    else {
        apr_table_unset(headers, "Connection");
    }
    return 1;
}

/* @return 1: something was removed */
static int take_forged(apr_table_t *headers, apr_pool_t *pool)
{
    int taken = take_headers(headers, pool);

    return take_names(headers, pool) || taken;
}

/* Trailers after a chunked body can become request headers, too (MergeTrailers), long after the handler has
 * begun. */
static apr_status_t filter_trailers(ap_filter_t *f, apr_bucket_brigade *bb, ap_input_mode_t mode, apr_read_type_e block,
                                    apr_off_t readbytes)
{
    const vault_context_t *x;
    apr_status_t rv = ap_get_brigade(f->next, bb, mode, block, readbytes);
    request_rec *r = f->r;

    if (rv != APR_SUCCESS || APR_BRIGADE_EMPTY(bb) || !APR_BUCKET_IS_EOS(APR_BRIGADE_LAST(bb)) || !r->trailers_in ||
        !take_forged(r->trailers_in, r->pool)) {
        return rv;
    }
    take_forged(r->headers_in, r->pool);
    vault_session_request_set_headers(r, r->headers_in);
    x = vault_context_get(r);
    if (x && x->own) {
        vault_page_request_tell(r->headers_in, x->own, x->own_properties, r->pool);
    }
    if (x && x->is_drawn) {
        tell_new_page(r, x);
    }
    return rv;
}

/* Runs before any other code reads the headers. Subrequests have copies of the headers of their main request. */
static int read_request(request_rec *r)
{
    if (r->main) {
        return DECLINED;
    }
    vault_feed_key_keep_page(r);
    take_forged(r->headers_in, r->pool);
    if (!r->prev && (r->connection->master || apr_table_get(r->headers_in, "Transfer-Encoding"))) {
        ap_add_input_filter_handle(trailers_filter, NULL, r, r->connection);
    }
    return DECLINED;
}

static int parse_said(vault_page_t *page, const request_rec *r)
{
    const char *id = apr_table_get(r->headers_in, SAYS);

    return id && strlen(id) == VAULT_PAGE_ID_LEN && vault_page_parse(page, id);
}

/* The user and the location are known here. The handler is not told of a page that does not exist, or that
 * belongs to another virtual host or user. @return 1: the request comes from a page */
static int find_page(request_rec *r)
{
    vault_context_t *x;
    vault_page_t page;
    vault_owner_t owner;
    vault_state_t *base;
    apr_status_t rv;

    if (!parse_said(&page, r)) {
        return 0;
    }
    vault_page_locate(vault_server->pages, &page);
    owner = vault_realm_owner(r);
    rv = vault_store_find(r, &page, &owner, NULL, 0);
    if (rv == APR_SUCCESS) {
        rv = vault_page_read(vault_server->pages, &page, &owner, &base, r->pool);
    }
    if (rv != APR_SUCCESS) {
        ap_log_rerror(APLOG_MARK, APLOG_DEBUG, rv, r,
                      VLTNO(00061) "the page that the request names is unknown, belongs to another user, or is not "
                                   "rendered yet: it is ignored");
        return 0;
    }
    x = vault_context_make(r);
    x->own = apr_pmemdup(r->pool, &page, sizeof(page));
    x->own_properties = base->properties;
    vault_page_request_tell(r->headers_in, &page, base->properties, r->pool);
    return 1;
}

/* The id that was announced to an earlier request of the same internal redirect; NULL: none. If a page was
 * created there, it keeps that id. */
static vault_context_t *drawn_before(const request_rec *r)
{
    vault_context_t *x = NULL;

    while ((r = r->prev) && (!(x = ap_get_module_config(r->request_config, &vault_module)) || !x->is_drawn)) {
    }
    return r && !x->txn ? x : NULL;
}

/* An application may call feeds before its response says that this is a live page, so create the page now. Static files
 * call no feeds. If there is no room for a page, continue without one: the response may not need it. */
static void open_view(request_rec *r, vault_context_t *x)
{
    const vault_feed_key_t *key = vault_feed_key_of(r);

    if (x->calls.run || !key || !r->handler || r->header_only || vault_context_reserve(r) != APR_SUCCESS) {
        return;
    }
    x->calls.key = key->id;
    vault_page_calls_open_view(vault_server->pages, &x->calls, &x->page);
}

static void draw_new_page(request_rec *r)
{
    vault_context_t *x = vault_context_make(r);
    vault_context_t *before = drawn_before(r);

    if (before) {
        vault_context_inherit(r, before);
    }
    else if (vault_page_draw(&x->page) != APR_SUCCESS) {
        return;
    }
    x->is_drawn = 1;
    open_view(r, x);
    tell_new_page(r, x);
}

static int tell_pages(request_rec *r)
{
    if (r->main || !vault_server->pages || vault_view_conf_of(r)->long_poll != 1) {
        return DECLINED;
    }
    if (!find_page(r) && vault_view_is_possible(r)) {
        draw_new_page(r);
    }
    return DECLINED;
}

void vault_page_request_tell(apr_table_t *headers, const vault_page_t *page, const apr_array_header_t *properties,
                             apr_pool_t *pool)
{
    char id[VAULT_PAGE_ID_LEN + 1];
    int i;

    vault_page_format(page, id);
    apr_table_set(headers, "Vault-Page", id);
    for (i = 0; i < properties->nelts; i++) {
        const vault_property_t *p = &APR_ARRAY_IDX(properties, i, vault_property_t);
        if (vault_header_is_key(p->key)) {
            apr_table_setn(headers, apr_pstrcat(pool, "Vault-Property-", p->key, NULL),
                           vault_header_encode(p->value, pool));
        }
    }
}

const vault_page_t *vault_page_request_page(request_rec *r)
{
    const vault_context_t *x = vault_context_get(r);

    return x ? x->own : NULL;
}

apr_status_t vault_page_request_write(request_rec *r, const vault_write_t *write)
{
    const vault_page_t *page = vault_page_request_page(r);
    vault_owner_t owner = vault_realm_owner(r);

    apr_status_t rv = APR_NOTFOUND;

    if (page) {
        rv = vault_page_write(vault_server->pages, page, &owner, write, r->pool);
    }
    return rv == APR_SUCCESS && vault_store_save(r, page) != APR_SUCCESS ? APR_NOTFOUND : rv;
}

apr_status_t vault_page_request_set(request_rec *r, const char *key, const char *value)
{
    apr_array_header_t *properties = apr_array_make(r->pool, 1, sizeof(vault_property_t));
    vault_write_t write = {.properties = properties};
    vault_property_t *p = apr_array_push(properties);

    p->key = key;
    p->value = value;
    return vault_page_request_write(r, &write);
}

const char *vault_page_request_get(request_rec *r, const char *key)
{
    const vault_page_t *page = vault_page_request_page(r);
    vault_owner_t owner = vault_realm_owner(r);
    vault_property_t *p = NULL;
    vault_state_t *base;

    if (page && vault_page_read(vault_server->pages, page, &owner, &base, r->pool) == APR_SUCCESS) {
        p = vault_state_property(base, key);
    }
    return p ? p->value : NULL;
}

void vault_page_request_hooks(void)
{
    trailers_filter = ap_register_input_filter("VAULT_TRAILERS", filter_trailers, NULL, AP_FTYPE_CONTENT_SET);
    ap_hook_post_read_request(read_request, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_fixups(tell_pages, NULL, NULL, APR_HOOK_LAST);
}
