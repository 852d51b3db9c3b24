/* SPDX-License-Identifier: Apache-2.0 */
/* Decides by headers that browsers set and scripts cannot.
 *
 * Before a browser sends a request to another origin that is not simple, it asks by OPTIONS ("CORS-preflight"
 * in the Fetch standard), without cookies or login. So that question must be answered before httpd asks for a
 * user. A request that was admitted for that reason alone reaches no other handler than this module's.
 */
#include "request/origin.h"

#include "apr_lib.h"
#include "apr_strings.h"
#include "apr_uri.h"
#include "http_core.h"
#include "http_log.h"
#include "http_protocol.h"
#include "http_request.h"

#include "request/body.h"
#include "request/own_handlers.h"
#include "request/reply.h"
#include "request/request_conf.h"
#include "server/log.h"
#include "server/server.h"

APLOG_USE_MODULE(vault);

/* How long a browser may cache the answer to a preflight, in seconds. */
#define BELIEVED "600"
/* The request headers of vault.js and of server-sent events that CORS does not allow by default. */
#define HEADERS "Content-Type, Last-Event-ID, X-Vault-Page"
/* The response headers that they read and that CORS does not expose by default. */
#define EXPOSED "Retry-After, Vault-Superseded"
#define LET_IN "vault-preflight"
#define BEFORE_QUEUES (APR_HOOK_REALLY_FIRST - 10)

/* Compares without the scheme: behind a proxy that terminates TLS, this server's scheme differs. */
static int is_host(const char *origin, const char *host)
{
    const char *end = ap_strstr_c(origin, "://");

    return end && host && !ap_cstr_casecmp(end + 3, host);
}

const char *vault_origin_page(const request_rec *r)
{
    const char *referer = apr_table_get(r->headers_in, "Referer"), *host = apr_table_get(r->headers_in, "Host");
    const char *end = referer ? ap_strstr_c(referer, "://") : NULL;
    apr_size_t length = host ? strlen(host) : 0;

    /* "//" would begin the URL of another host. */
    return end && length && !ap_cstr_casecmpn(end + 3, host, length) && end[3 + length] == '/' && end[4 + length] != '/'
               ? end + 3 + length
               : NULL;
}

/* Sec-Fetch-Site decides if it is there: the browser has compared the origins itself, so a proxy that changes
 * Host does not matter. Over plain HTTP, except to localhost, browsers omit it, and old browsers never send it.
 * But they send Origin with every request other than GET and HEAD, with the value "null" from a page without an
 * origin. A request with neither header was not sent by a browser for a page of another site, so it carries
 * only its own sender's cookies. */
int vault_origin_is_same(const request_rec *r)
{
    const char *site = apr_table_get(r->headers_in, "Sec-Fetch-Site");
    const char *origin = apr_table_get(r->headers_in, "Origin");

    if (site) {
        return !strcmp(site, "same-origin") || !strcmp(site, "none");
    }
    return !origin || is_host(origin, apr_table_get(r->headers_in, "Host"));
}

/* -------------------------------------------------------------- configuration */

/* A wildcard or a list in place of a host would never match. */
static int is_hostname(const char *name)
{
    while (apr_isalnum(*name) || (*name && strchr(".-_:", *name))) {
        name++;
    }
    return *name == '\0';
}

const char *vault_origin_parse(const char *text, apr_pool_t *pool)
{
    apr_uri_t uri;
    char *origin;

    if (!strcmp(text, "*")) {
        return text;
    }
    if (apr_uri_parse(pool, text, &uri) != APR_SUCCESS || !uri.scheme || !uri.hostname || !*uri.hostname ||
        !is_hostname(uri.hostname) || uri.user || uri.path || uri.query || uri.fragment ||
        (uri.port_str && (!*uri.port_str || !uri.port)) ||
        (ap_cstr_casecmp(uri.scheme, "http") && ap_cstr_casecmp(uri.scheme, "https"))) {
        return NULL;
    }
    origin = apr_pstrcat(pool, uri.scheme, "://", strchr(uri.hostname, ':') ? "[" : "", uri.hostname,
                         strchr(uri.hostname, ':') ? "]" : "", NULL);
    ap_str_tolower(origin);
    return uri.port_str && uri.port != apr_uri_port_of_scheme(uri.scheme)
               ? apr_psprintf(pool, "%s:%u", origin, uri.port)
               : origin;
}

static int is_listed(const apr_array_header_t *origins, const char *origin)
{
    int i;

    for (i = 0; origins && i < origins->nelts; i++) {
        if (!strcmp(APR_ARRAY_IDX(origins, i, const char *), origin)) {
            return 1;
        }
    }
    return 0;
}

/* ------------------------------------------------------------------ admission */

static int has_credentials(const request_rec *r)
{
    return r->user || apr_table_get(r->headers_in, "Cookie") || apr_table_get(r->headers_in, "Authorization");
}

/* Is this a preflight request? @return the method that it asks for, or NULL */
static const char *preflight_for(const request_rec *r)
{
    return r->method_number == M_OPTIONS ? apr_table_get(r->headers_in, "Access-Control-Request-Method") : NULL;
}

/* The value of Access-Control-Allow-Origin: the origin of the page, "*", or NULL for none. Origins in the list
 * may use the visitor's cookies; if the list has "*", all others may send requests without them. */
static const char *shown_to(const request_rec *r, const apr_array_header_t *origins)
{
    const char *origin = apr_table_get(r->headers_in, "Origin");

    if (!origin) {
        return NULL;
    }
    if (strcmp(origin, "*") && is_listed(origins, origin)) {
        return origin;
    }
    return is_listed(origins, "*") && !has_credentials(r) ? "*" : NULL;
}

/* In err_headers_out, so that error responses have these headers, too. */
static void show_to(request_rec *r, const char *origin)
{
    apr_table_setn(r->err_headers_out, "Access-Control-Allow-Origin", origin);
    apr_table_setn(r->err_headers_out, "Access-Control-Expose-Headers", EXPOSED);
    if (strcmp(origin, "*")) {
        apr_table_setn(r->err_headers_out, "Access-Control-Allow-Credentials", "true");
    }
}

static int answer_preflight(request_rec *r, const char *methods)
{
    apr_table_setn(r->err_headers_out, "Access-Control-Allow-Methods", methods);
    apr_table_setn(r->err_headers_out, "Access-Control-Allow-Headers", HEADERS);
    apr_table_setn(r->err_headers_out, "Access-Control-Max-Age", BELIEVED);
    apr_table_mergen(r->err_headers_out, "Vary", "Access-Control-Request-Method, Access-Control-Request-Headers");
    return vault_reply_nothing(r);
}

/* Logged for the administrator, who may have meant to allow the origin. */
static int refuse(request_rec *r)
{
    const char *origin = apr_table_get(r->headers_in, "Origin");
    int status = vault_body_discard(r);

    ap_log_rerror(
        APLOG_MARK, APLOG_INFO, 0, r,
        VLTNO(00230) "a page of another origin, %.200s, may not do this: VaultLongPollOrigin does not name it, or "
                     "names * and it came with credentials",
        origin && *origin ? origin : "which is not said");
    return status == OK ? vault_reply_error(r, HTTP_FORBIDDEN, "a page of another site may not do this") : status;
}

int vault_origin_admit(request_rec *r, const char *methods, int harmless)
{
    const apr_array_header_t *origins = vault_request_conf_of(r)->origins;
    const char *origin;

    if (r->main) {
        return DECLINED;
    }
    if (origins && origins->nelts) {
        apr_table_mergen(r->err_headers_out, "Vary", "Origin");
    }
    origin = shown_to(r, origins);
    if (origin) {
        show_to(r, origin);
        return preflight_for(r) ? answer_preflight(r, methods) : DECLINED;
    }
    if (!vault_origin_is_same(r) && !(harmless && !apr_table_get(r->headers_in, "Origin"))) {
        return refuse(r);
    }
    return DECLINED;
}

/* ----------------------------------------------------------------- before login */

/* A preflight has no cookies and no login, so it cannot satisfy Require. The answer tells only what is
 * configured. */
static int let_in(request_rec *r)
{
    const apr_array_header_t *origins = vault_request_conf_of(r)->origins;

    if (r->main || !origins || !preflight_for(r) || !shown_to(r, origins)) {
        return DECLINED;
    }
    apr_table_setn(r->notes, LET_IN, "1");
    return OK;
}

/* A preflight that was admitted without a login must not reach any other handler. */
static int keep_from_others(request_rec *r)
{
    const vault_own_handler_t *own = vault_own_handler(r);

    return !r->main && apr_table_get(r->notes, LET_IN) && !(own && own->answers_origins) ? HTTP_FORBIDDEN : DECLINED;
}

/* ------------------------------------------------------------- VaultSameOrigin */

static int is_safe(const request_rec *r)
{
    return r->method_number == M_GET || r->method_number == M_OPTIONS || r->method_number == M_TRACE;
}

/* The module's own handlers call vault_origin_admit() instead. This hook runs twice: at the end of the fixups
 * mod_dir can redirect a request to another file, to which other directives apply, and then those of both
 * count. */
static int guard(request_rec *r)
{
    const char *origin;

    if (r->main || vault_request_conf_of(r)->same_origin != 1 || is_safe(r) || vault_own_handler(r) ||
        vault_origin_is_same(r)) {
        return DECLINED;
    }
    origin = apr_table_get(r->headers_in, "Origin");
    ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, r,
                  VLTNO(00320) "a page of another origin, %.200s, may not send %s here: VaultSameOrigin is On",
                  origin && *origin ? origin : "which is not said", r->method);
    return HTTP_FORBIDDEN;
}

void vault_origin_hooks(void)
{
    /* After SetHandler and before mod_dir; also before VaultQosLimit, so that refused requests do not queue. */
    ap_hook_fixups(guard, NULL, NULL, APR_HOOK_FIRST);
    ap_hook_handler(guard, NULL, NULL, BEFORE_QUEUES);
    ap_hook_check_access_ex(let_in, NULL, NULL, APR_HOOK_FIRST, AP_AUTH_INTERNAL_PER_CONF);
    ap_hook_handler(keep_from_others, NULL, NULL, APR_HOOK_REALLY_FIRST);
}
