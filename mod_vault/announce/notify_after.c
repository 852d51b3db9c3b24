/* SPDX-License-Identifier: Apache-2.0 */
/* A handler that comes before all others, calls them, and notifies when they have returned. The log comes later: when a slow client
 * has read all of the answer. A request that its handler leaves to others (SUSPENDED) ends with its pool.
 */
#include "announce/notify_after.h"

#include "httpd.h"
#include "http_config.h"
#include "http_core.h"
#include "http_request.h"

#include "announce/announce_conf.h"
#include "request/own_handlers.h"
#include "server/server.h"

static void notify_all_of(const apr_array_header_t *names)
{
    int i;

    for (i = 0; i < names->nelts; i++) {
        vault_notifier_notify(vault_server->notifier, APR_ARRAY_IDX(names, i, const char *), vault_server->slot);
    }
}

/* A child of prefork that ends in a signal handler, perhaps while its thread holds a lock of the shared memory, takes
 * none: it counts as killed, and every page looks again. */
static apr_status_t notify_at_end(void *data)
{
    if (vault_server->ends) {
        vault_server_enter_handlers();
    }
    else {
        notify_all_of(data);
    }
    return APR_SUCCESS;
}

/* Also when the request was redirected within: what a POST was, a GET may be that answers it. */
static int is_safe(const request_rec *r)
{
    for (; r; r = r->prev) {
        if (r->method_number != M_GET && r->method_number != M_OPTIONS && r->method_number != M_TRACE) {
            return 0;
        }
    }
    return 1;
}

/* The module's own handlers write no data of the application: were the acknowledgements of a waiting page to notify, pages would wake each
 * other without end. */
static int run_others(request_rec *r)
{
    const vault_announce_conf_t *l = vault_announce_conf_of(r);
    apr_array_header_t *names = l ? l->after : NULL;
    int rv;

    if (!names || !names->nelts || r->main || is_safe(r) || vault_own_handler(r) ||
        apr_table_get(r->notes, "vault-notify-after")) {
        return DECLINED;
    }
    apr_table_setn(r->notes, "vault-notify-after", "1"); /* the next time it is the others' turn */
    apr_pool_cleanup_register(r->pool, names, notify_at_end, apr_pool_cleanup_null);
    rv = ap_run_handler(r);
    if (rv != SUSPENDED) {
        apr_pool_cleanup_run(r->pool, names, notify_at_end);
    }
    return rv;
}

void vault_notify_after_hooks(void)
{
    ap_hook_handler(run_others, NULL, NULL, APR_HOOK_REALLY_FIRST);
}
