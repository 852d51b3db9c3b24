/* SPDX-License-Identifier: Apache-2.0 */
/* A key has a line for each value, beginning with the name. */
#include "recording/output_key.h"

#include "apr_strings.h"
#include "http_core.h"
#include "http_protocol.h"

#include "recording/judge.h"
#include "request/realm.h"
#include "server/server.h"

/* A client may send the URL in its absolute form. */
static const char *path_of(const char *url)
{
    const char *host = *url == '/' ? NULL : ap_strstr_c(url, "://"), *path = host ? ap_strchr_c(host + 3, '/') : NULL;

    return path ? path : url;
}

static const char *text_of(const char *text)
{
    return text ? text : "";
}

/* By apr_pstrcat(), since apr_psprintf() copies texts byte by byte, and each request that may be kept has a key. */
static const char *make(request_rec *r, const vault_output_what_t *w, const char *where, apr_pool_t *pool)
{
    const char *host = w->url ? text_of(r->hostname) : text_of(r->server->server_hostname);
    const char *url = w->url ? w->url : r->uri, *query = w->url ? text_of(r->args) : "";

    const char *options = apr_itoa(pool, ap_allow_options(r));

    return apr_pstrcat(pool, w->kind, " ", ap_http_scheme(r), "://", host, path_of(url), "\n", url, "\n", where, "\n",
                       r->uri, "\n", text_of(r->handler), "\n", text_of(r->filename), text_of(r->path_info), "?", query,
                       "\n", text_of(r->content_type), "\n", vault_judge_filters(r), " ", options, "\n", w->varies,
                       NULL);
}

const char *vault_output_key(request_rec *r, const vault_output_what_t *what, apr_pool_t *pool)
{
    return make(r, what,
                apr_psprintf(pool, "%" APR_UINT64_T_HEX_FMT " %d", vault_realm_owner(r).host, vault_server->generation),
                pool);
}

const char *vault_output_shared_key(request_rec *r, const vault_output_what_t *what, apr_pool_t *pool)
{
    const server_rec *s = r->server;

    return make(r, what,
                apr_psprintf(pool, "%s:%d:%d", s->server_hostname ? s->server_hostname : "", s->port,
                             s->addrs ? s->addrs->host_port : 0),
                pool);
}
