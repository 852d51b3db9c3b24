/* SPDX-License-Identifier: Apache-2.0 */
/* The module: pages of an httpd site update themselves when data on the server changes.
 *
 * layers.txt lists the folders, the lower ones first. To read the code, begin with poll/dispatcher.c (one poll
 * from request to answer) and poll/poll_page.h (one page of a poll); then see view/view.c (how a page is
 * created) and notify/notifier.h (why no notification is lost).
 */
#include "httpd.h"
#include "http_config.h"
#include "http_request.h"

#include "admin/metrics.h"
#include "admin/status.h"
#include "announce/notify.h"
#include "announce/notify_after.h"
#include "api.h"
#include "bundle/bundle.h"
#include "cache/cache_handler.h"
#include "child.h"
#include "directives.h"
#include "endpoint/feedurl.h"
#include "endpoint/subscriptions.h"
#include "feed/feed_versions.h"
#include "feed/feedlog.h"
#include "feed/ssi.h"
#include "poll/dispatcher.h"
#include "poll/method.h"
#include "request/local.h"
#include "request/origin.h"
#include "recording/judge.h"
#include "request/own_handlers.h"
#include "request/realm.h"
#include "request/request_line.h"
#include "server/server.h"
#include "session/session_request.h"
#include "socache/socache.h"
#include "store/store.h"
#include "suspend/park.h"
#include "suspend/redispatch.h"
#include "throttle/throttle.h"
#include "view/declared.h"
#include "view/headers.h"
#include "view/page_request.h"
#include "view/recorded.h"
#include "view/view.h"

static int pre_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp)
{
    vault_directives_reset(pconf);
    return OK;
}

static void register_hooks(apr_pool_t *p)
{
    ap_hook_pre_config(pre_config, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_handler(vault_dispatcher_handler, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_handler(vault_feedurl_handler, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_handler(vault_notify_handler, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_handler(vault_status_handler, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_handler(vault_subscriptions_handler, NULL, NULL, APR_HOOK_MIDDLE);
    vault_child_hooks();
    vault_realm_hooks();
    vault_request_line_hooks();
    vault_own_handler_hooks();
    vault_local_register(p);
    vault_park_hooks();
    vault_suspension_hooks();
    vault_redispatch_hooks();
    vault_throttle_hooks();
    vault_cache_hooks();
    vault_view_hooks(p);
    vault_method_hooks();
    vault_metrics_hooks();
    vault_socache_hooks();
    vault_store_hooks();
    vault_bundle_hooks();
    vault_feed_versions_hooks();
    vault_ssi_hooks();
    vault_feedlog_hooks();
    vault_headers_hooks();
    vault_judge_hooks();
    vault_recorded_hooks();
    vault_declared_hooks();
    vault_session_request_hooks();
    vault_page_request_hooks();
    vault_origin_hooks();
    vault_notify_after_hooks();
    vault_api_register();
}

AP_DECLARE_MODULE(vault) = {
    STANDARD20_MODULE_STUFF,
    vault_directives_create,
    vault_directives_merge,
    NULL,
    NULL,
    vault_directives,
    register_hooks,
    0,
};
