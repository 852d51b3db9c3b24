/* SPDX-License-Identifier: Apache-2.0 */
/* Identifies the client of a request, and compares its usage with its limits. */
#include "request/client.h"

#include <netinet/in.h>

#include "apr_escape.h"
#include "apr_strings.h"

#include "request/main_request.h"
#include "request/realm.h"
#include "server/server.h"

/* The most memory that a page takes before it has a state. */
#define SMALL 512

/* If httpd accepts both protocols on one socket, as with "Listen 80", an IPv4 address arrives as
 * ::ffff:192.0.2.1. */
static int is_ipv6(const apr_sockaddr_t *address)
{
    return address && address->ipaddr_len == (apr_socklen_t)sizeof(struct in6_addr) &&
           !IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)address->ipaddr_ptr);
}

static const char *name_address(request_rec *top, apr_pool_t *pool)
{
    if (!is_ipv6(top->useragent_addr)) {
        return apr_pstrcat(pool, "address ", top->useragent_ip, NULL);
    }
    return apr_pstrcat(pool, "network ", apr_pescape_hex(pool, top->useragent_addr->ipaddr_ptr, 8, 0), NULL);
}

const char *vault_client_name(request_rec *top, apr_pool_t *pool)
{
    return top->user ? apr_pstrcat(pool, "user ", top->user, NULL) : name_address(top, pool);
}

vault_client_id_t vault_client_address(request_rec *r)
{
    return vault_client_id(vault_server->clients, name_address(vault_main_request(r), r->pool));
}

/* The same user name on another virtual host or in another realm can belong to another person, and there any
 * visitor may be able to choose it. */
vault_client_id_t vault_client_of(request_rec *r)
{
    request_rec *top = vault_main_request(r);
    const char *name = vault_client_name(top, r->pool);
    vault_owner_t owner;

    if (top->user) {
        owner = vault_realm_owner(r);
        name = apr_psprintf(r->pool, "%s\n%" APR_UINT64_T_HEX_FMT "\n%" APR_UINT64_T_HEX_FMT, name, owner.host,
                            owner.realm);
    }
    return vault_client_id(vault_server->clients, name);
}

const char *vault_client_limit(request_rec *r, apr_size_t bytes)
{
    static const char *const names[] = {"VaultMaxPagesPerClient", "VaultMaxMemoryPerClient",
                                        "VaultMaxInterestsPerClient", NULL /* sessions */};
    const vault_page_limits_t *limits = vault_pages_limits(vault_server->pages);
    vault_client_id_t client = vault_client_of(r);
    unsigned kind;

    for (kind = 0; kind < VAULT_CLIENT_OF_SLOT; kind++) {
        apr_uint64_t has = vault_clients_has(vault_server->clients, client, (vault_client_kind_t)kind);
        apr_uint64_t more = kind == VAULT_CLIENT_BYTES ? vault_heap_takes(bytes > SMALL ? bytes : SMALL) : 1;

        if (names[kind] && has + more > limits->of_client[kind]) {
            return apr_psprintf(r->pool, "%s %" APR_UINT64_T_FMT, names[kind], limits->of_client[kind]);
        }
    }
    return NULL;
}
