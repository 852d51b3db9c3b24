/* SPDX-License-Identifier: Apache-2.0 */
/* Identifies virtual hosts and realms by numbers. Pages in the shared memory store these numbers, which stay
 * the same over graceful restarts, while each restart creates new server_recs. */
#include "request/realm.h"

#include "apr_hash.h"
#include "apr_lib.h"
#include "apr_strings.h"
#include "http_config.h"
#include "http_core.h"

#include "base/hash.h"
#include "request/main_request.h"
#include "server/server.h"

/* The seed lives as long as the shared memory, so that an attacker cannot choose an AuthName whose number collides with
 * another. */
static apr_uint64_t number_of(const char *text)
{
    return vault_hash_id(vault_segment_boot(vault_server->segment), text);
}

/* -------------------------------------------------------------- virtual hosts */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The addresses of <VirtualHost A:80 B:80>, sorted. */
static const char *addresses_of(const server_rec *s, apr_pool_t *pool)
{
    apr_array_header_t *list = apr_array_make(pool, 2, sizeof(const char *));
    const server_addr_rec *a;

    for (a = s->addrs; a; a = a->next) {
        APR_ARRAY_PUSH(list, const char *) = apr_psprintf(pool, "%s:%u", a->virthost, a->host_port);
    }
    qsort(list->elts, (size_t)list->nelts, sizeof(const char *), compare_texts);
    return apr_array_pstrcat(pool, list, ' ');
}

static const char *name_of(const server_rec *s, apr_pool_t *pool)
{
    char *name = apr_pstrcat(pool, s->server_hostname ? s->server_hostname : "", "\n", addresses_of(s, pool), NULL);

    ap_str_tolower(name);
    return name;
}

static const char *aliases_of(const server_rec *s, apr_pool_t *pool)
{
    const char *names = s->names ? apr_array_pstrcat(pool, s->names, ' ') : "";
    const char *wild = s->wild_names ? apr_array_pstrcat(pool, s->wild_names, ' ') : "";

    return apr_pstrcat(pool, "\n", names, "\n", wild, NULL);
}

/* Tells apart virtual hosts with the same name and addresses. If the aliases are the same as well, httpd sends
 * all requests to the first one. */
static const char *differences_of(const server_rec *s, apr_pool_t *pool)
{
    return apr_pstrcat(pool, aliases_of(s, pool), "\n", s->path, NULL);
}

static apr_hash_t *count_names(const server_rec *s, apr_pool_t *pool)
{
    apr_hash_t *counts = apr_hash_make(pool);

    for (; s; s = s->next) {
        const char *name = name_of(s, pool);
        int *count = apr_hash_get(counts, name, APR_HASH_KEY_STRING);
        if (!count) {
            count = apr_pcalloc(pool, sizeof(*count));
            apr_hash_set(counts, name, APR_HASH_KEY_STRING, count);
        }
        ++*count;
    }
    return counts;
}

static int number_hosts(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp, server_rec *main_server)
{
    apr_hash_t *counts = count_names(main_server, ptemp);
    server_rec *s;

    for (s = main_server; s && vault_server->segment; s = s->next) {
        const char *name = name_of(s, ptemp);
        const int *count = apr_hash_get(counts, name, APR_HASH_KEY_STRING);
        apr_uint64_t *number = apr_palloc(pconf, sizeof(*number));

        *number = number_of(*count > 1 ? apr_pstrcat(ptemp, name, differences_of(s, ptemp), NULL) : name);
        ap_set_module_config(s->module_config, &vault_module, number);
    }
    return OK;
}

/* --------------------------------------------------------------------- realms */

static const char *realm_of(request_rec *r, apr_pool_t *pool)
{
    const char *type = ap_auth_type(r), *name = ap_auth_name(r);
    char *realm = apr_pstrcat(pool, type ? type : "", "\n", NULL);

    ap_str_tolower(realm);
    return apr_pstrcat(pool, realm, name, NULL);
}

vault_owner_t vault_realm_owner(request_rec *r)
{
    request_rec *top = vault_main_request(r);
    const apr_uint64_t *host = ap_get_module_config(top->server->module_config, &vault_module);
    vault_owner_t owner = {.host = host ? *host : 0, .user = top->user};

    if (top->user) {
        owner.realm = number_of(realm_of(top, r->pool));
    }
    return owner;
}

void vault_realm_shared(request_rec *r, apr_uint64_t seed, apr_uint64_t *host, apr_uint64_t *realm)
{
    request_rec *top = vault_main_request(r);
    const server_rec *s = top->server;
    char *name =
        apr_psprintf(r->pool, "%s:%u%s", s->server_hostname ? s->server_hostname : "", s->port, aliases_of(s, r->pool));

    ap_str_tolower(name);
    *host = vault_hash_id(seed, name);
    *realm = top->user ? vault_hash_id(seed, realm_of(top, r->pool)) : 0;
}

void vault_realm_hooks(void)
{
    ap_hook_post_config(number_hosts, NULL, NULL, APR_HOOK_LAST);
}
