/* SPDX-License-Identifier: Apache-2.0 */
/* A request is local if its user agent has an address of this machine, and one of two things holds: no header
 * shows that a proxy has forwarded it, or a module such as mod_remoteip has identified the user agent behind
 * the proxy. Such a module stores its own address in useragent_addr, in post_read_request, long before
 * authorization.
 *
 * A proxy that adds no header cannot be told from a local client; docs/operating.md says what to do then.
 */
#include "request/local.h"

#include "apr_strings.h"
#include "http_log.h"
#include "http_request.h"
#include "mod_auth.h"

#include "server/log.h"
#include "server/server.h"

APLOG_USE_MODULE(vault);

static apr_ipsubnet_t *loopback4, *loopback6; /* const after registration */

/* @return the name of the header that shows that a proxy has forwarded the request; NULL: none does */
static const char *passed_on_by(const request_rec *r)
{
    static const char *const names[] = {"Forwarded", "Via", "X-Real-IP"};
    const apr_array_header_t *headers = apr_table_elts(r->headers_in);
    unsigned k;
    int i;

    for (i = 0; i < headers->nelts; i++) {
        const char *name = APR_ARRAY_IDX(headers, i, apr_table_entry_t).key;
        if (name && !ap_cstr_casecmpn(name, "X-Forwarded-", strlen("X-Forwarded-"))) {
            return name;
        }
        for (k = 0; name && k < sizeof(names) / sizeof(names[0]); k++) {
            if (!ap_cstr_casecmp(name, names[k])) {
                return names[k];
            }
        }
    }
    return NULL;
}

static int is_own_address(const request_rec *r)
{
    return apr_sockaddr_equal(r->connection->local_addr, r->useragent_addr) ||
           apr_ipsubnet_test(loopback4, r->useragent_addr) ||
           (loopback6 && apr_ipsubnet_test(loopback6, r->useragent_addr));
}

static authz_status check(request_rec *r, const char *line, const void *parsed)
{
    const char *header;

    if (!is_own_address(r)) {
        return AUTHZ_DENIED;
    }
    if (r->useragent_addr != r->connection->client_addr || !(header = passed_on_by(r))) {
        return AUTHZ_GRANTED;
    }
    ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, r,
                  VLTNO(00306) "Require vault-local: the request comes from %s, but its header %.40s says that a proxy "
                               "has forwarded it, and mod_remoteip has not identified the client",
                  r->useragent_ip, header);
    return AUTHZ_DENIED;
}

static const char *parse(cmd_parms *cmd, const char *line, const void **parsed)
{
    return *line ? apr_psprintf(cmd->pool, "Require vault-local \"%.100s\": nothing is accepted behind it", line)
                 : NULL;
}

static const authz_provider provider = {check, parse};

void vault_local_register(apr_pool_t *p)
{
    apr_ipsubnet_create(&loopback4, "127.0.0.0", "8", p);
    if (apr_ipsubnet_create(&loopback6, "::1", NULL, p) != APR_SUCCESS) {
        loopback6 = NULL;
    }
    ap_register_auth_provider(p, AUTHZ_PROVIDER_GROUP, "vault-local", AUTHZ_PROVIDER_VERSION, &provider,
                              AP_AUTH_INTERNAL_PER_CONF);
}
