/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mod_vault_backend: a backend with limited capacity, which gets slower for all requests under overload, like a
 * database whose rows no longer fit into memory. It uses no CPU time, so that a small machine can run many
 * requests.
 *
 *   SetHandler vault-bench-backend
 *
 * A request is 40 ms of work. Up to 8 requests at a time run at full speed, which is 200 requests per second.
 * With n > 8 requests, each runs at (8/n)^2 of that speed, so that all together get 8/n of the work done. It
 * does not detect clients that have given up.
 */
#include "httpd.h"
#include "http_config.h"
#include "http_log.h"
#include "http_protocol.h"

#include "apr_shm.h"
#include "apr_time.h"

#define HANDLER "vault-bench-backend"
#define WORK_US 40000.0
#define BEST_AT 8
#define STEP_US 2000

/* In memory shared by the children. A killed child would leave its requests counted, so no child is killed
 * here. */
static apr_uint32_t *at_once; /* atomic */

static double speed(apr_uint32_t n)
{
    double part = n > BEST_AT ? (double)BEST_AT / n : 1;

    return part * part;
}

static void work(void)
{
    double left = WORK_US;
    apr_time_t last = apr_time_now(), now;

    while (left > 0) {
        apr_sleep(left < STEP_US ? (apr_interval_time_t)left + 1 : STEP_US);
        now = apr_time_now();
        left -= (double)(now - last) * speed(__atomic_load_n(at_once, __ATOMIC_RELAXED));
        last = now;
    }
}

static int handler(request_rec *r)
{
    if (strcmp(r->handler, HANDLER) != 0) {
        return DECLINED;
    }
    __atomic_add_fetch(at_once, 1, __ATOMIC_RELAXED);
    work();
    __atomic_sub_fetch(at_once, 1, __ATOMIC_RELAXED);
    ap_set_content_type(r, "text/plain");
    ap_rputs("done\n", r);
    return OK;
}

static int post_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp, server_rec *s)
{
    apr_shm_t *shm;
    apr_status_t rv = apr_shm_create(&shm, sizeof(*at_once), NULL, pconf);

    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_CRIT, rv, s, "mod_vault_backend has no memory to share");
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    at_once = apr_shm_baseaddr_get(shm);
    return OK;
}

static void register_hooks(apr_pool_t *p)
{
    ap_hook_post_config(post_config, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_handler(handler, NULL, NULL, APR_HOOK_MIDDLE);
}

AP_DECLARE_MODULE(vault_backend) = {STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, NULL, register_hooks,
                                    AP_MODULE_FLAG_NONE};
