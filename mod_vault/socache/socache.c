/* SPDX-License-Identifier: Apache-2.0 */
/* VaultCacheSocache: the directive, and the calls of the provider. */
#include "socache/socache.h"

#include <string.h>

#include "ap_provider.h"
#include "ap_socache.h"
#include "apr_strings.h"
#include "http_core.h"

#include "base/hash.h"
#include "base/now.h"
#include "output/output_store.h"
#include "server/log.h"
#include "server/server.h"
#include "socache/socache_call.h"

APLOG_USE_MODULE(vault);

#define NAME "mod_vault" /* of this user of the cache, in its keys */
/* Any constant, for servers without a secret. */
#define SEED APR_UINT64_C(0x736f63616368652d)
/* The most bytes of the metadata of an output that is shared. */
#define METADATA_MAX 16384
/* An output that may be used for less time than this is not shared. */
#define LEAST apr_time_from_sec(2)

/* Const after the configuration has been read. */
static struct {
    const ap_socache_provider_t *provider; /* NULL: not configured */
    ap_socache_instance_t *instance;
    const char *value;
    apr_uint64_t seed;
} cache;

/* ------------------------------------------------------------------ directive */

void vault_socache_reset(void)
{
    memset(&cache, 0, sizeof(cache));
}

/* Those that need a lock are in memory or in a file of this server: the output store is better there. */
static const char *find_provider(const char *name, apr_pool_t *pool)
{
    cache.provider = ap_lookup_provider(AP_SOCACHE_PROVIDER_GROUP, name, AP_SOCACHE_PROVIDER_VERSION);
    if (!cache.provider) {
        return apr_psprintf(pool,
                            "there is no provider \"%.40s\"; redis or memcache is accepted, if mod_socache_redis "
                            "or mod_socache_memcache is loaded before",
                            name);
    }
    return cache.provider->flags & AP_SOCACHE_FLAG_NOTMPSAFE
               ? apr_psprintf(pool, "servers cannot share \"%.40s\"; redis or memcache is accepted", name)
               : NULL;
}

static const char *set_cache(cmd_parms *cmd, void *dir, const char *value, const char *secret)
{
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY), *colon = strchr(value, ':');

    if (error) {
        return error;
    }
    error = find_provider(colon ? apr_pstrmemdup(cmd->pool, value, (apr_size_t)(colon - value)) : value, cmd->pool);
    if (!error) {
        error = cache.provider->create(&cache.instance, colon ? colon + 1 : NULL, cmd->temp_pool, cmd->pool);
    }
    cache.value = value;
    cache.seed = secret ? vault_hash_text(SEED, secret) : SEED;
    return error ? apr_psprintf(cmd->pool, "%s %.100s: %s", cmd->cmd->name, value, error) : NULL;
}

const command_rec vault_socache_directives[] = {
    AP_INIT_TAKE12("VaultCacheSocache", set_cache, NULL, RSRC_CONF,
                   "a cache that servers share, as redis:HOST:PORT, and a secret that they share, too"),
    {.name = NULL}};

static apr_status_t destroy(void *s)
{
    if (cache.provider) {
        cache.provider->destroy(cache.instance, s);
    }
    return APR_SUCCESS;
}

static int init(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp, server_rec *s)
{
    static const struct ap_socache_hints hints = {APR_SHA1_DIGESTSIZE, 16384, apr_time_from_sec(60)};
    apr_status_t rv;

    if (!cache.provider || ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_CREATE_PRE_CONFIG) {
        return OK;
    }
    if ((rv = cache.provider->init(cache.instance, NAME, &hints, s, pconf)) != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_EMERG, rv, s, VLTNO(00441) "VaultCacheSocache %s cannot be used", cache.value);
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    apr_pool_cleanup_register(pconf, s, destroy, apr_pool_cleanup_null);
    return OK;
}

/* With prefork this runs in a signal handler. */
static apr_status_t stop(void *data)
{
    if (!vault_server->ends) {
        vault_socache_call_finish();
    }
    return APR_SUCCESS;
}

static void child_init(apr_pool_t *pchild, server_rec *s)
{
    if (cache.provider) {
        apr_pool_pre_cleanup_register(pchild, NULL, stop);
    }
}

void vault_socache_hooks(void)
{
    ap_hook_child_init(child_init, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_post_config(init, NULL, NULL, APR_HOOK_MIDDLE);
}

/* ---------------------------------------------------------------------- calls */

int vault_socache_is_on(void)
{
    return cache.provider && vault_server->outputs;
}

/* Servers with different secrets have different keys. */
static void name_of(const char *key, apr_size_t size, unsigned char name[APR_SHA1_DIGESTSIZE])
{
    apr_sha1_ctx_t sha;

    apr_sha1_init(&sha);
    apr_sha1_update_binary(&sha, (const unsigned char *)&cache.seed, sizeof(cache.seed));
    apr_sha1_update_binary(&sha, (const unsigned char *)key, (unsigned)size);
    apr_sha1_final(name, &sha);
}

/* ---------------------------------------------------------------------- fetch */

static apr_status_t retrieve(vault_socache_call_t *call)
{
    return cache.provider->retrieve(cache.instance, vault_server->s, call->name, sizeof(call->name), call->block,
                                    &call->size, call->pool);
}

static void prepare_fetch(vault_socache_call_t *call, const vault_output_packet_t *packet)
{
    call->run = retrieve;
    call->cache = cache.value;
    call->size = VAULT_OUTPUT_PACKET_HEAD + VAULT_OUTPUT_KEY_MAX + METADATA_MAX +
                 (unsigned)vault_outputs_limits(vault_server->outputs)->memory_max;
    call->block = apr_palloc(call->pool, call->size);
    name_of(packet->key, packet->key_size, call->name);
}

/* An output that was made in the future comes from a server whose clock differs, so its time limit means nothing
 * here. */
static const char *judge_times(const vault_output_packet_t *p, apr_time_t now)
{
    return p->made > now + apr_time_from_sec(1) ? "the clocks of the servers differ"
           : p->until <= now                    ? "its time is over"
                                                : NULL;
}

static void tell_refused(const char *why)
{
    static apr_time_t said;
    int level = vault_log_seldom(&said, vault_now(), APLOG_WARNING);

    ap_log_error(APLOG_MARK, level, 0, vault_server->s,
                 VLTNO(00443) "an output of VaultCacheSocache %s is not used: %s", cache.value, why);
}

static void copy(vault_output_packet_t *packet, const vault_output_packet_t *found, apr_time_t shift, apr_pool_t *pool)
{
    packet->metadata = apr_pmemdup(pool, found->metadata, found->metadata_size);
    packet->metadata_size = found->metadata_size;
    packet->body = apr_pstrmemdup(pool, found->body, found->body_size);
    packet->body_size = found->body_size;
    packet->made = found->made + shift;
    packet->until = found->until + shift;
}

static int read_block(vault_output_packet_t *packet, const char *block, apr_size_t size, apr_pool_t *pool)
{
    vault_output_packet_t found = *packet;
    apr_time_t now = apr_time_now();
    const char *wrong = vault_output_packet_decode(&found, cache.seed, block, size);

    wrong = wrong ? wrong : judge_times(&found, now);
    if (wrong) {
        tell_refused(wrong);
        return 0;
    }
    copy(packet, &found, vault_now() - now, pool);
    return 1;
}

int vault_socache_fetch(vault_output_packet_t *packet, apr_pool_t *pool)
{
    vault_socache_call_t *call = vault_socache_is_on() ? vault_socache_call_make() : NULL;
    apr_status_t rv;
    int found;

    if (!call) {
        return 0;
    }
    prepare_fetch(call, packet);
    if ((rv = vault_socache_call_wait(call)) == APR_TIMEUP) {
        return 0;
    }
    found = rv == APR_SUCCESS && read_block(packet, (const char *)call->block, call->size, pool);
    vault_socache_call_free(call);
    return found;
}

/* ----------------------------------------------------------------------- give */

static int is_worth(const vault_output_packet_t *p, apr_time_t now)
{
    return p->key_size <= VAULT_OUTPUT_KEY_MAX && p->metadata_size <= METADATA_MAX &&
           p->body_size <= vault_outputs_limits(vault_server->outputs)->memory_max && p->until - now >= LEAST;
}

static apr_status_t store(vault_socache_call_t *call)
{
    return cache.provider->store(cache.instance, vault_server->s, call->name, sizeof(call->name), call->expiry,
                                 call->block, call->size, call->pool);
}

void vault_socache_store(const vault_output_packet_t *packet)
{
    apr_time_t now = vault_now(), shift = apr_time_now() - now;
    vault_output_packet_t p = *packet;
    vault_socache_call_t *call;
    apr_size_t size;

    if (!vault_socache_is_on() || !is_worth(packet, now) || !(call = vault_socache_call_make())) {
        return;
    }
    p.made += shift;
    p.until += shift;
    call->run = store;
    call->cache = cache.value;
    call->expiry = p.until;
    call->block = (unsigned char *)vault_output_packet_encode(&p, cache.seed, &size, call->pool);
    call->size = (unsigned)size;
    name_of(p.key, p.key_size, call->name);
    vault_socache_call_leave(call);
}
