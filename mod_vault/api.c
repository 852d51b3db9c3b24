/* SPDX-License-Identifier: Apache-2.0 */
/* The optional functions of vault.h. Each finds the context of the request and calls one function. */
#include "httpd.h"

#include "api.h"

#include "apr_strings.h"
#include "util_filter.h"

#include "bundle/bundle.h"
#include "feed/feedcall.h"
#include "feed/render.h"
#include "mod_vault/vault.h"
#include "request/origin.h"
#include "server/server.h"
#include "session/session_request.h"
#include "suspend/suspend.h"
#include "view/context.h"
#include "view/page_request.h"
#include "view/recorded.h"
#include "view/view.h"

static apr_status_t vault_add_long_poll(request_rec *r, const char *url)
{
    return vault_view_add_long_poll(r, url);
}

static const char *vault_page_script(request_rec *r)
{
    return vault_view_script(r);
}

static const char *vault_stream_url(request_rec *r)
{
    return vault_context_stream_url(r);
}

static const char *vault_page_get(request_rec *r, const char *key)
{
    const vault_context_t *x = vault_context_get(r);
    const char *value = x && x->txn ? vault_recorded_get(r, x->txn, key) : vault_page_request_get(r, key);

    return value ? apr_pstrdup(r->pool, value) : NULL;
}

static apr_status_t vault_page_set(request_rec *r, const char *key, const char *value)
{
    vault_page_txn_t *txn = vault_context_txn(r, NULL);

    return txn ? vault_page_txn_set(txn, key, value) : vault_page_request_set(r, key, value);
}

static const char *vault_session_get(request_rec *r, const char *key)
{
    const char *value = vault_session_request_get(r, key);

    return value ? apr_pstrdup(r->pool, value) : NULL;
}

static apr_status_t vault_session_set(request_rec *r, const char *key, const char *value)
{
    return vault_session_request_set(r, key, value);
}

static apr_status_t vault_session_remove(request_rec *r, const char *key)
{
    return vault_session_request_set(r, key, NULL);
}

static apr_status_t vault_session_renew(request_rec *r)
{
    return vault_session_request_renew(r);
}

static int vault_create_interest(request_rec *r, const char *interest, const char *cursor)
{
    vault_page_txn_t *txn = vault_context_txn(r, NULL);

    return vault_recorded_create_interest(r, txn, cursor, interest);
}

static apr_status_t vault_notify(const char *interest)
{
    return vault_server_notify(interest);
}

static apr_status_t vault_feed_call(request_rec *r, const char *feed, const char *method, const json_t *args,
                                    json_t **rows, const char **error)
{
    return vault_feedcall_run(r, feed, method, args, rows, error, r->pool);
}

static int vault_feed_is_reset(request_rec *r, const json_t *rows)
{
    return vault_feedcall_is_reset(r, rows);
}

static apr_status_t vault_render(request_rec *r, const vault_render_t *what, const char **error)
{
    apr_bucket_brigade *bb = apr_brigade_create(r->pool, r->connection->bucket_alloc);
    vault_context_t *x = vault_context_get(r);
    apr_status_t rv = vault_render_to(bb, r, what, error, r->pool);

    if (rv == APR_SUCCESS && !APR_BRIGADE_EMPTY(bb) && (rv = ap_pass_brigade(r->output_filters, bb)) != APR_SUCCESS) {
        *error = "what was rendered cannot be sent";
    }
    apr_brigade_destroy(bb);
    if (rv != APR_SUCCESS && x && x->in_method && x->txn) {
        vault_page_txn_fail(x->txn, *error);
    }
    return rv;
}

static void vault_share(request_rec *r)
{
    vault_recorded_share(r);
}

static int vault_same_origin(const request_rec *r)
{
    return vault_origin_is_same(r);
}

void vault_api_register(void)
{
    APR_REGISTER_OPTIONAL_FN(vault_add_long_poll);
    APR_REGISTER_OPTIONAL_FN(vault_page_script);
    APR_REGISTER_OPTIONAL_FN(vault_stream_url);
    APR_REGISTER_OPTIONAL_FN(vault_bundle_url);
    APR_REGISTER_OPTIONAL_FN(vault_page_get);
    APR_REGISTER_OPTIONAL_FN(vault_page_set);
    APR_REGISTER_OPTIONAL_FN(vault_session_get);
    APR_REGISTER_OPTIONAL_FN(vault_session_set);
    APR_REGISTER_OPTIONAL_FN(vault_session_remove);
    APR_REGISTER_OPTIONAL_FN(vault_session_renew);
    APR_REGISTER_OPTIONAL_FN(vault_create_interest);
    APR_REGISTER_OPTIONAL_FN(vault_notify);
    APR_REGISTER_OPTIONAL_FN(vault_feed_call);
    APR_REGISTER_OPTIONAL_FN(vault_feed_is_reset);
    APR_REGISTER_OPTIONAL_FN(vault_render);
    APR_REGISTER_OPTIONAL_FN(vault_share);
    APR_REGISTER_OPTIONAL_FN(vault_request_suspend);
    APR_REGISTER_OPTIONAL_FN(vault_request_resume);
    APR_REGISTER_OPTIONAL_FN(vault_request_complete);
    APR_REGISTER_OPTIONAL_FN(vault_request_is_suspended);
    APR_REGISTER_OPTIONAL_FN(vault_request_is_resumed);
    APR_REGISTER_OPTIONAL_FN(vault_request_is_timeout);
    APR_REGISTER_OPTIONAL_FN(vault_same_origin);
}
