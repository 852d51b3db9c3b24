/* SPDX-License-Identifier: Apache-2.0 */
/* Makes subrequests that do not show the request that they are part of. */
#include "request/subrequest.h"

#include "apr_strings.h"
#include "http_core.h"
#include "http_protocol.h"
#include "http_request.h"

void vault_subrequest_unset_headers(request_rec *sub)
{
    static const char *const names[] = {"If-Match",     "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
                                        "If-Range",     "Range",         "Accept-Encoding",   "Content-Length",
                                        "Content-Type", "Expect",        "Transfer-Encoding"};
    unsigned i;

    sub->headers_in = apr_table_copy(sub->pool, sub->headers_in);
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        apr_table_unset(sub->headers_in, names[i]);
    }
}

static const char *path_of(const char *url, apr_pool_t *pool)
{
    char *path = apr_pstrmemdup(pool, url, strcspn(url, "?"));

    ap_unescape_url(path);
    return path;
}

/* The parent of the subrequest: a copy of the request with two differences. First, another pool: a subrequest
 * allocates from its parent's pool, and that of a poll lives as long as the browser waits. Second, the URL's own
 * request line: a subrequest inherits it, and REQUEST_URI (CGI, FastCGI, WSGI) and THE_REQUEST (mod_rewrite)
 * are made from it, so that a front controller would otherwise route the URL of the main request. */
static request_rec *make_parent(const request_rec *r, const char *url, apr_pool_t *pool)
{
    request_rec *parent = apr_pmemdup(pool, r, sizeof(*r));

    parent->pool = pool;
    parent->the_request = apr_pstrcat(pool, "GET ", url, " ", r->protocol, NULL);
    return parent;
}

/* httpd sets the protocol of a subrequest to "INCLUDED", which applications do not know, does not copy the port of the
 * Host header, which becomes SERVER_PORT, and mod_rewrite uses the URL of the main request. */
request_rec *vault_subrequest_make(request_rec *r, const char *url, ap_filter_t *next, apr_pool_t *pool)
{
    request_rec *sub = ap_sub_req_method_uri("GET", url, make_parent(r, url, pool), next);

    sub->protocol = r->protocol;
    sub->proto_num = r->proto_num;
    sub->parsed_uri.port = r->parsed_uri.port;
    sub->parsed_uri.port_str = r->parsed_uri.port_str;
    if (apr_table_get(sub->subprocess_env, "SCRIPT_URL")) {
        const char *path = path_of(url, sub->pool);
        apr_table_setn(sub->subprocess_env, "SCRIPT_URL", path);
        apr_table_setn(sub->subprocess_env, "SCRIPT_URI", ap_construct_url(sub->pool, path, sub));
    }
    return sub;
}
