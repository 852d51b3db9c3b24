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

static const char *make(request_rec *r, const vault_output_what_t *w, const char *where, apr_pool_t *pool)
{
    return apr_psprintf(pool, "%s %s://%s%s\n%s\n%s\n%s\n%s\n%s%s?%s\n%s\n%s\n%s", w->kind, ap_http_scheme(r),
                        r->hostname ? r->hostname : "", path_of(w->url), w->url, where, r->uri,
                        r->handler ? r->handler : "", r->filename ? r->filename : "", r->path_info ? r->path_info : "",
                        r->args ? r->args : "", r->content_type ? r->content_type : "", vault_judge_filters(r),
                        w->varies);
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
