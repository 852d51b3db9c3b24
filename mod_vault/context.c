/* SPDX-License-Identifier: Apache-2.0 */
/* Finds or makes what a request is to the module. */
#include "context.h"

#include "apr_escape.h"
#include "apr_strings.h"
#include "http_protocol.h"

#include "log.h"
#include "mod_vault.h"
#include "now.h"

APLOG_USE_MODULE(vault);

request_rec *vault_main_request(request_rec *r)
{
    while (r->main) {
        r = r->main;
    }
    return r;
}

vault_context_t *vault_context_get(request_rec *r)
{
    return ap_get_module_config(vault_main_request(r)->request_config, &vault_module);
}

vault_context_t *vault_context_make(request_rec *r)
{
    request_rec *top = vault_main_request(r);
    vault_context_t *x = ap_get_module_config(top->request_config, &vault_module);

    if (!x) {
        x = apr_pcalloc(top->pool, sizeof(*x));
        x->pool = top->pool;
        ap_set_module_config(top->request_config, &vault_module, x);
    }
    return x;
}

vault_context_t *vault_context_begin(request_rec *r, vault_run_t *run, const vault_page_t *page, apr_pool_t *pool)
{
    vault_context_t *x = apr_pcalloc(pool, sizeof(*x));

    x->run = run;
    x->pool = pool;
    x->page = *page;
    x->in_method = 1;
    ap_set_module_config(r->request_config, &vault_module, x);
    return x;
}

void vault_context_end(request_rec *r)
{
    ap_set_module_config(r->request_config, &vault_module, NULL);
}

/* A page that was not published by the time its request goes never will be. */
static apr_status_t drop_page(void *data)
{
    vault_context_t *x = data;

    vault_page_drop(vault_server.pages, &x->page);
    return APR_SUCCESS;
}

apr_status_t vault_context_publish(request_rec *r)
{
    vault_context_t *x = vault_context_get(r);
    static apr_time_t said;
    const char *failed = vault_run_failed(x->run);
    int level;
    apr_status_t rv = failed ? APR_EGENERAL : vault_page_publish(vault_server.pages, &x->page, vault_run_state(x->run));

    if (rv == APR_SUCCESS) {
        apr_pool_cleanup_kill(vault_main_request(r)->pool, x, drop_page);
    }
    else {
        level = vault_log_seldom(&said, vault_now(), APLOG_ERR);
        ap_log_rerror(APLOG_MARK, level, failed ? 0 : rv, r, VLTNO(00011) "the page cannot be kept live: %s",
                      failed ? failed : "its state does not fit in the shared memory");
    }
    return rv;
}

/* Who has the page: the user, or the address; of IPv6 the network, of which one customer has at least 2^64 addresses. */
static const char *client_name(request_rec *top)
{
    if (top->user) {
        return apr_pstrcat(top->pool, "user ", top->user, NULL);
    }
    if (!top->useragent_addr || top->useragent_addr->ipaddr_len != 16) {
        return apr_pstrcat(top->pool, "address ", top->useragent_ip, NULL);
    }
    return apr_pstrcat(top->pool, "network ", apr_pescape_hex(top->pool, top->useragent_addr->ipaddr_ptr, 8, 0), NULL);
}

/* The segment's random number keeps outsiders from choosing who shares a place. */
static apr_uint32_t number_of(const char *name)
{
    apr_ssize_t length = (apr_ssize_t)strlen(name);
    apr_uint64_t n = (apr_hashfunc_default(name, &length) ^ vault_segment_boot(vault_server.segment)) *
                     APR_UINT64_C(0x9E3779B97F4A7C15);

    return n >> 32 ? (apr_uint32_t)(n >> 32) : 1;
}

vault_client_id_t vault_client_of(request_rec *r)
{
    return vault_client_id(vault_server.clients, client_name(vault_main_request(r)));
}

/* Refused views are logged as warnings once a second: whoever fills the table causes many. */
static int refused_level(void)
{
    static apr_time_t said;

    return vault_log_seldom(&said, vault_now(), APLOG_WARNING);
}

static void say_full(request_rec *top, apr_status_t rv)
{
    int level = refused_level();

    ap_log_rerror(APLOG_MARK, level, rv, top,
                  VLTNO(00010) "no page can be made: %u of VaultMaxPages %u are in use, %" APR_UINT64_T_FMT
                               "K of %" APR_UINT64_T_FMT "K shared memory",
                  vault_pages_count(vault_server.pages), vault_segment_limits(vault_server.segment)->pages,
                  vault_heap_used(vault_server.heap) >> 10, vault_heap_size(vault_server.heap) >> 10);
}

static apr_status_t count_page(request_rec *top, const vault_page_t *page)
{
    const char *name = client_name(top);
    apr_status_t rv = vault_page_count_client(vault_server.pages, page, number_of(name),
                                              (apr_uint32_t)vault_settings.max_client_pages);

    if (rv != APR_SUCCESS) {
        int level = refused_level();
        vault_page_drop(vault_server.pages, page);
        ap_log_rerror(APLOG_MARK, level, 0, top,
                      VLTNO(00051) "no page can be made: %s has VaultMaxPagesPerClient %d; if that is a proxy of many, "
                                   "mod_remoteip "
                                   "tells them apart",
                      name, vault_settings.max_client_pages);
    }
    return rv;
}

static apr_status_t make_page(request_rec *top, vault_context_t *x)
{
    apr_status_t rv = vault_page_create(vault_server.pages, &x->page, top->user, vault_now(), vault_page_idle());

    if (rv != APR_SUCCESS) {
        say_full(top, rv);
    }
    else {
        rv = count_page(top, &x->page);
    }
    if (rv != APR_SUCCESS) {
        x->refused = 1;
        vault_tally(refused, 1);
        return APR_ENOSPC;
    }
    vault_tally(pages_made, 1);
    apr_pool_cleanup_register(top->pool, x, drop_page, apr_pool_cleanup_null);
    x->run = vault_run_create(vault_server.pages, &x->page, vault_state_create(top->pool), top->pool);
    return APR_SUCCESS;
}

static apr_status_t may_have_page(request_rec *top, const vault_context_t *x)
{
    if (!x->in_view) {
        return vault_location_of(top)->long_poll == 1 ? APR_NOTFOUND : APR_EACCES;
    }
    return x->sealed ? APR_EINIT : x->refused ? APR_ENOSPC : APR_SUCCESS;
}

vault_run_t *vault_context_run(request_rec *r, apr_status_t *status)
{
    request_rec *top = vault_main_request(r);
    vault_context_t *x = vault_context_make(top);
    apr_status_t rv = APR_SUCCESS;

    if (!x->run && (rv = may_have_page(top, x)) == APR_SUCCESS) {
        rv = make_page(top, x);
    }
    if (status) {
        *status = rv;
    }
    return x->run;
}
