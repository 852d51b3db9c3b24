/* SPDX-License-Identifier: Apache-2.0 */
/* Finds or creates the context of a request. */
#include "view/context.h"

#include "apr_strings.h"
#include "http_protocol.h"

#include "base/now.h"
#include "request/client.h"
#include "request/main_request.h"
#include "request/realm.h"
#include "server/log.h"
#include "server/server.h"
#include "server/settings.h"
#include "session/session_request.h"
#include "store/store.h"
#include "view/view_conf.h"

APLOG_USE_MODULE(vault);

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

vault_context_t *vault_context_begin(request_rec *r, vault_page_txn_t *txn, const vault_page_t *page, apr_pool_t *pool)
{
    vault_context_t *x = apr_pcalloc(pool, sizeof(*x));

    x->txn = txn;
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

/* A page that its view has not published by the end of the request is removed. In a child of prefork that ends
 * in a signal handler, the thread may be holding a lock of the shared memory: taking it again would deadlock
 * this process, and then its parent, which takes these locks, too. In that case the page is left to expire. */
static apr_status_t drop_page(void *data)
{
    vault_context_t *x = data;

    if (!vault_server->ends) {
        vault_page_drop(vault_server->pages, &x->page);
    }
    return APR_SUCCESS;
}

apr_status_t vault_context_publish(request_rec *r)
{
    vault_context_t *x = vault_context_get(r);
    static apr_time_t said;
    const char *failed = vault_page_txn_failed(x->txn);
    int level;
    apr_status_t rv =
        failed ? APR_EGENERAL : vault_page_publish(vault_server->pages, &x->page, vault_page_txn_state(x->txn));

    if (!failed && rv == APR_ENOSPC) {
        const char *limit = vault_client_limit(r, vault_state_size(vault_page_txn_state(x->txn)));

        failed = limit ? apr_pstrcat(r->pool, "its client has ", limit, NULL) : NULL;
    }

    if (rv == APR_SUCCESS) {
        apr_pool_cleanup_kill(vault_main_request(r)->pool, x, drop_page);
        x->is_reserved = 0;
        vault_store_save(r, &x->page);
    }
    else {
        level = vault_log_seldom(&said, vault_now(), APLOG_ERR);
        ap_log_rerror(APLOG_MARK, level, failed ? 0 : rv, r, VLTNO(00011) "the page cannot be kept live: %s",
                      failed ? failed : "its state does not fit in the shared memory");
    }
    return rv;
}

/* A warning at most once a second: a client that fills the table of pages causes many refused views. */
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
                  vault_pages_count(vault_server->pages) + vault_sessions_count(vault_server->pages),
                  vault_segment_limits(vault_server->segment)->pages, vault_heap_used(vault_server->heap) >> 10,
                  vault_heap_size(vault_server->heap) >> 10);
}

static void say_client_is_full(request_rec *top, const char *limit)
{
    int level = refused_level();

    ap_log_rerror(
        APLOG_MARK, level, 0, top,
        VLTNO(00051) "no page can be made: %s has %s; if that is a proxy of many, mod_remoteip tells them apart",
        vault_client_name(top, top->pool), limit);
}

/* Creates the page again if it has expired or has been evicted since it was reserved. The external calls of the
 * application are lost with it. The new page need not know of them: what they returned counts as the first view
 * of the page's methods as well. */
static apr_status_t reserve_page(request_rec *top, vault_context_t *x)
{
    vault_owner_t owner = vault_realm_owner(top);
    apr_status_t rv;

    owner.client = vault_client_of(top);
    rv = x->is_drawn ? vault_page_create_drawn(vault_server->pages, &x->page, &owner, vault_now(), vault_page_idle())
                     : vault_page_create(vault_server->pages, &x->page, &owner, vault_now(), vault_page_idle());
    if (rv == APR_EEXIST && x->is_reserved) {
        return APR_SUCCESS;
    }
    if (rv == APR_SUCCESS) {
        x->calls.run = 0;
    }
    if (rv == APR_SUCCESS && !x->is_reserved) {
        x->is_reserved = 1;
        apr_pool_cleanup_register(top->pool, x, drop_page, apr_pool_cleanup_null);
    }
    return rv;
}

apr_status_t vault_context_reserve(request_rec *r)
{
    return reserve_page(r, vault_context_make(r));
}

void vault_context_drop(request_rec *r)
{
    vault_context_t *x = vault_context_get(r);

    if (x && x->is_reserved) {
        x->is_reserved = 0;
        apr_pool_cleanup_run(vault_main_request(r)->pool, x, drop_page);
    }
}

void vault_context_inherit(request_rec *r, vault_context_t *before)
{
    vault_context_t *x = vault_context_make(r);

    x->page = before->page;
    x->calls = before->calls;
    if (before->is_reserved) {
        apr_pool_cleanup_kill(r->pool, before, drop_page);
        apr_pool_cleanup_register(r->pool, x, drop_page, apr_pool_cleanup_null);
        x->is_reserved = 1;
        before->is_reserved = 0;
    }
}

static apr_status_t make_page(request_rec *top, vault_context_t *x)
{
    apr_status_t rv = reserve_page(top, x);

    if (rv != APR_SUCCESS) {
        const char *limit = vault_client_limit(top, 0);

        if (limit) {
            say_client_is_full(top, limit);
        }
        else {
            say_full(top, rv);
        }
        x->refused = 1;
        vault_tally(refused, 1);
        return APR_ENOSPC;
    }
    vault_tally(pages_made, 1);
    x->txn = vault_page_txn_create(vault_server->pages, &x->page, vault_state_create(top->pool), top->pool);
    vault_session_request_enter_view(top, x->txn);
    return APR_SUCCESS;
}

static apr_status_t may_have_page(request_rec *top, const vault_context_t *x)
{
    if (!x->in_view) {
        return vault_view_conf_of(top)->long_poll == 1 ? APR_NOTFOUND : APR_EACCES;
    }
    return x->sealed ? APR_EINIT : x->refused ? APR_ENOSPC : APR_SUCCESS;
}

const char *vault_context_stream_url(request_rec *r)
{
    request_rec *top = vault_main_request(r);
    const vault_context_t *x = vault_context_get(top);
    char id[VAULT_PAGE_ID_LEN + 1];

    if (!x || x->in_method || !(x->is_drawn || x->txn)) {
        return NULL;
    }
    vault_page_format(&x->page, id);
    return apr_psprintf(r->pool, "%s/poll?page=%s&as=html", vault_view_conf_path(vault_view_conf_of(top)), id);
}

vault_page_txn_t *vault_context_txn(request_rec *r, apr_status_t *status)
{
    request_rec *top = vault_main_request(r);
    vault_context_t *x = vault_context_make(top);
    apr_status_t rv = APR_SUCCESS;

    if (!x->txn && (rv = may_have_page(top, x)) == APR_SUCCESS) {
        rv = make_page(top, x);
    }
    if (status) {
        *status = rv;
    }
    return x->txn;
}
