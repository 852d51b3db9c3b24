/* SPDX-License-Identifier: Apache-2.0 */
/* By headers that browsers set and scripts cannot.
 *
 * A browser asks before it sends a request of another origin that is not simple (Fetch standard, "CORS-preflight"): OPTIONS, without
 * cookies or login, so that question must be answered before httpd asks for a user. What was let in for that reason alone gets no
 * further than our answer.
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

/* How long a browser may believe an answer to its question, in seconds. */
#define BELIEVED "600"
/* What vault.js and server-sent events send beyond what every request may have. */
#define HEADERS "Content-Type, Last-Event-ID, X-Vault-Page"
/* What they read beyond what every answer shows. */
#define EXPOSED "Retry-After, Vault-Superseded"
#define LET_IN "vault-preflight"
#define BEFORE_QUEUES (APR_HOOK_REALLY_FIRST - 10)

/* The scheme is left out: behind a proxy that does TLS it is not this server's. */
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

    /* "//" would begin another host's URL. */
    return end && length && !ap_cstr_casecmpn(end + 3, host, length) && end[3 + length] == '/' && end[4 + length] != '/'
               ? end + 3 + length
               : NULL;
}

/* Sec-Fetch-Site counts first: the browser has compared the origins itself, whatever proxies made of Host. Browsers omit it over plain HTTP,
 * except to localhost, and old ones always; but they send Origin with every request that is not GET or HEAD, "null" from a page without
 * one. What has neither no browser has sent for another page: it carries the cookies of its own sender alone. */
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

/* A wildcard or a list in the place of a host would match nothing. */
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

/* The question before a request, not the request. */
static const char *preflight_for(const request_rec *r)
{
    return r->method_number == M_OPTIONS ? apr_table_get(r->headers_in, "Access-Control-Request-Method") : NULL;
}

/* The origin by which the browser may show the answer: the one that asks, "*", or NULL: none. Whoever is in the list may come with the
 * visitor's cookies; any other, where there is "*", only without. */
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

/* Headers that outlive whatever happens to the answer. */
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

/* Of the administrator's interest only when it should have been let in. */
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

/* No cookies and no login come with the question, so Require cannot be met. The answer tells nothing but what is configured. */
static int let_in(request_rec *r)
{
    const apr_array_header_t *origins = vault_request_conf_of(r)->origins;

    if (r->main || !origins || !preflight_for(r) || !shown_to(r, origins)) {
        return DECLINED;
    }
    apr_table_setn(r->notes, LET_IN, "1");
    return OK;
}

/* Before any other handler: the question is for ours. */
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

/* Our own handlers ask by vault_origin_admit(). Runs twice: mod_dir may lead a request to another file, and so to other directives, at the end of
 * the fixups, and then both places count. */
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
    /* After SetHandler, before mod_dir; and before VaultQosLimit, so that what is refused does not queue. */
    ap_hook_fixups(guard, NULL, NULL, APR_HOOK_FIRST);
    ap_hook_handler(guard, NULL, NULL, BEFORE_QUEUES);
    ap_hook_check_access_ex(let_in, NULL, NULL, APR_HOOK_FIRST, AP_AUTH_INTERNAL_PER_CONF);
    ap_hook_handler(keep_from_others, NULL, NULL, APR_HOOK_REALLY_FIRST);
}
