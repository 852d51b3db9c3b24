/* SPDX-License-Identifier: Apache-2.0 */
/* By headers that browsers set and scripts cannot. */
#include "origin.h"

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

int vault_origin_is_foreign(const request_rec *r)
{
    const char *site = apr_table_get(r->headers_in, "Sec-Fetch-Site");
    const char *origin = apr_table_get(r->headers_in, "Origin");

    if (site) {
        return strcmp(site, "same-origin") && strcmp(site, "none");
    }
    return origin && !is_host(origin, apr_table_get(r->headers_in, "Host"));
}
