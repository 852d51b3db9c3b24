/* SPDX-License-Identifier: Apache-2.0 */
/* A handler that runs before all others, calls them, and notifies after they have returned. It does not use
 * log_transaction, which runs only when a slow client has read the whole answer. For a request that its handler
 * has suspended, the notify happens when the pool of the request is destroyed.
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
        vault_server_notify(APR_ARRAY_IDX(names, i, const char *));
    }
}

/* When a child of prefork ends in a signal handler, its thread may be holding a lock of the shared memory, so
 * it must take no lock. It then counts as killed, and every page is checked for changes. */
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

/* Is the request safe, and all requests that were redirected internally to it? A POST may have become the GET
 * that answers it. */
static int is_safe(const request_rec *r)
{
    for (; r; r = r->prev) {
        if (r->method_number != M_GET && r->method_number != M_OPTIONS && r->method_number != M_TRACE) {
            return 0;
        }
    }
    return 1;
}

/* Excludes the module's own handlers, which write no data of the application. Otherwise the acknowledgement of
 * a waiting page would notify, and pages would wake each other without end. */
static int run_others(request_rec *r)
{
    const vault_announce_conf_t *l = vault_announce_conf_of(r);
    apr_array_header_t *names = l ? l->after : NULL;
    int rv;

    if (!names || !names->nelts || r->main || is_safe(r) || vault_own_handler(r) ||
        apr_table_get(r->notes, "vault-notify-after")) {
        return DECLINED;
    }
    /* The next call leaves the request to the other handlers. */
    apr_table_setn(r->notes, "vault-notify-after", "1");
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
