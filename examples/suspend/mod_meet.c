/* SPDX-License-Identifier: Apache-2.0 */
/* A rendezvous by URL: a GET waits, without a thread, until another client POSTs to the same URL.
 *
 *     <Location "/meet/">
 *         SetHandler meet
 *     </Location>
 *
 *     GET /meet/anna       waits; 200 with what was posted; 204 when the time is up: ask again; 503 when too many wait
 *     POST /meet/anna      gives its body (at most 1 KB) to all that wait there; 200 with their number
 *     DELETE /meet/anna    ends the wait of all that wait there: 200, empty
 *
 * POST and DELETE are for pages of this site, and for programs that are not browsers: 403 for pages of other
 * sites.
 *
 * Clients that meet must be in the same child of httpd, so a site that uses this module unchanged has one
 * (ServerLimit 1, and as many threads as it needs). docs/suspending.md of mod_vault explains the code line by
 * line.
 */
#include "httpd.h"
#include "http_config.h"
#include "http_log.h"
#include "http_protocol.h"

#include "apr_optional_hooks.h"
#include "apr_strings.h"
#include "apr_thread_mutex.h"

#include "mod_vault/vault.h"

#define VALUE_MAX 1024
#define PATIENCE apr_time_from_sec(20)

extern module AP_MODULE_DECLARE_DATA meet_module;

/* A waiting request. In its pool; in the list until it continues or ends. */
typedef struct waiting_t {
    request_rec *r;
    apr_size_t length; /* lock */
    int given;         /* lock */
    struct waiting_t *next, **link;
    char value[VALUE_MAX];
} waiting_t;

static apr_thread_mutex_t *lock;
static waiting_t *all; /* lock */

static APR_OPTIONAL_FN_TYPE(vault_request_suspend) * request_suspend;
static APR_OPTIONAL_FN_TYPE(vault_request_resume) * request_resume;
static APR_OPTIONAL_FN_TYPE(vault_request_complete) * request_complete;
static APR_OPTIONAL_FN_TYPE(vault_same_origin) * same_origin;

/* ------------------------------------------------------------------- the list */

static void enter(waiting_t *w)
{
    apr_thread_mutex_lock(lock);
    w->next = all;
    w->link = &all;
    if (all) {
        all->link = &w->next;
    }
    all = w;
    apr_thread_mutex_unlock(lock);
}

/* A second call does nothing. */
static void leave(waiting_t *w)
{
    apr_thread_mutex_lock(lock);
    if (w->link) {
        *w->link = w->next;
        if (w->next) {
            w->next->link = w->link;
        }
        w->link = NULL;
    }
    apr_thread_mutex_unlock(lock);
}

/* The request ends in any way: from here on it must not be found in the list. */
static void completed(request_rec *r)
{
    waiting_t *w = ap_get_module_config(r->request_config, &meet_module);

    if (w) {
        leave(w);
    }
}

/* ------------------------------------------------------------------------- GET */

static int begin_to_wait(request_rec *r)
{
    apr_status_t rv = request_suspend(r, PATIENCE);
    waiting_t *w;

    if (rv == APR_TIMEUP) {
        return HTTP_NO_CONTENT; /* this child ends: answer as at a time-out */
    }
    if (rv != APR_SUCCESS) {
        return HTTP_SERVICE_UNAVAILABLE; /* if too many wait, Retry-After has been set */
    }
    w = apr_pcalloc(r->pool, sizeof(*w));
    w->r = r;
    ap_set_module_config(r->request_config, &meet_module, w);
    /* Suspend first, then enter the list: a resume may come at once, and takes effect when this handler has
     * returned. */
    enter(w);
    return SUSPENDED;
}

static int go_on(request_rec *r, waiting_t *w)
{
    leave(w);
    if (!w->given) {
        return HTTP_NO_CONTENT;
    }
    ap_set_content_type(r, "application/octet-stream");
    ap_rwrite(w->value, (int)w->length, r);
    return OK;
}

/* ---------------------------------------------------------------- POST, DELETE */

/* Requests in the list exist, since completed() waits for the lock. */
static int meet(const request_rec *r, const char *value, apr_size_t length)
{
    waiting_t *w;
    int met = 0;

    apr_thread_mutex_lock(lock);
    for (w = all; w; w = w->next) {
        if (strcmp(w->r->uri, r->uri) || w->given) {
            continue;
        }
        if (value) {
            memcpy(w->value, value, length);
            w->length = length;
            w->given = 1;
        }
        met += (value ? request_resume(w->r) : request_complete(w->r)) == APR_SUCCESS;
    }
    apr_thread_mutex_unlock(lock);
    return met;
}

static int give(request_rec *r)
{
    char value[VALUE_MAX + 1];
    apr_size_t length = 0;
    long n = 0;
    int status = ap_setup_client_block(r, REQUEST_CHUNKED_DECHUNK);

    if (status != OK) {
        return status;
    }
    if (ap_should_client_block(r)) {
        while (length < sizeof(value) && (n = ap_get_client_block(r, value + length, sizeof(value) - length)) > 0) {
            length += (apr_size_t)n;
        }
    }
    if (n < 0 || length > VALUE_MAX) {
        return n < 0 ? HTTP_BAD_REQUEST : HTTP_REQUEST_ENTITY_TOO_LARGE;
    }
    ap_set_content_type(r, "text/plain");
    ap_rprintf(r, "%d\n", meet(r, value, length));
    return OK;
}

static int handler(request_rec *r)
{
    waiting_t *w;

    if (!r->handler || strcmp(r->handler, "meet")) {
        return DECLINED;
    }
    if (!request_suspend || !same_origin) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r, "meet: mod_vault is not loaded, or too old");
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    if (r->method_number != M_GET && !same_origin(r)) {
        return HTTP_FORBIDDEN;
    }
    switch (r->method_number) {
    case M_GET:
        w = ap_get_module_config(r->request_config, &meet_module);
        return w ? go_on(r, w) : begin_to_wait(r);
    case M_POST:
        return give(r);
    case M_DELETE:
        ap_set_content_type(r, "text/plain");
        ap_rprintf(r, "%d\n", meet(r, NULL, 0));
        return OK;
    default:
        return HTTP_METHOD_NOT_ALLOWED;
    }
}

/* ----------------------------------------------------------------------- httpd */

static void child_init(apr_pool_t *pchild, server_rec *s)
{
    apr_thread_mutex_create(&lock, APR_THREAD_MUTEX_DEFAULT, pchild);
}

static void retrieve(void)
{
    request_suspend = APR_RETRIEVE_OPTIONAL_FN(vault_request_suspend);
    request_resume = APR_RETRIEVE_OPTIONAL_FN(vault_request_resume);
    request_complete = APR_RETRIEVE_OPTIONAL_FN(vault_request_complete);
    same_origin = APR_RETRIEVE_OPTIONAL_FN(vault_same_origin);
}

static void register_hooks(apr_pool_t *p)
{
    ap_hook_optional_fn_retrieve(retrieve, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_child_init(child_init, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_handler(handler, NULL, NULL, APR_HOOK_MIDDLE);
    APR_OPTIONAL_HOOK(vault, request_completed, completed, NULL, NULL, APR_HOOK_MIDDLE);
}

AP_DECLARE_MODULE(meet) = {
    STANDARD20_MODULE_STUFF,
    .register_hooks = register_hooks,
};
