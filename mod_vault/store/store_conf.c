/* SPDX-License-Identifier: Apache-2.0 */
/* VaultPageStore KIND:ADDRESS SECRET, and the password for it. */
#include "store/store_conf.h"

#include <string.h>

#include "ap_provider.h"
#include "apr_strings.h"

#include "base/hash.h"
#include "server/conf.h"

/* Any constant. */
#define SEED APR_UINT64_C(0x70616765732d2d2d)
#define SECRET_MIN 16

static vault_store_conf_t conf;

const vault_store_conf_t *vault_store_conf(void)
{
    return &conf;
}

void vault_store_conf_reset(void)
{
    memset(&conf, 0, sizeof(conf));
}

static const char *find_store(const char *kind, apr_pool_t *pool)
{
    conf.store = ap_lookup_provider(VAULT_STORE_GROUP, kind, VAULT_STORE_VERSION);
    return conf.store && conf.store->size >= sizeof(*conf.store)
               ? NULL
               : apr_psprintf(pool,
                              "no module is loaded for \"%.40s\"; for redis that is LoadModule vault_redis_module "
                              "modules/mod_vault_redis.so, before this line",
                              kind);
}

/* A client that knows the secret can forge pages, whose methods run as requests of their visitors. */
static const char *check_secret(const char *secret, apr_pool_t *pool)
{
    return strlen(secret) < SECRET_MIN ? apr_psprintf(pool, "the secret has %d characters; %d or more are accepted",
                                                      (int)strlen(secret), SECRET_MIN)
                                       : NULL;
}

static const char *refuse(const char *why, apr_pool_t *pool)
{
    return apr_psprintf(pool, "VaultPageStore %.100s: %s", conf.value, why);
}

static const char *check_store(apr_pool_t *pool)
{
    const char *error = conf.store->check(&conf.options, pool);

    return error ? refuse(error, pool) : NULL;
}

static const char *set_store(cmd_parms *cmd, void *dir, const char *value, const char *secret)
{
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY), *colon = strchr(value, ':');
    const char *kind = colon ? apr_pstrmemdup(cmd->pool, value, (apr_size_t)(colon - value)) : value;

    if (error) {
        return error;
    }
    conf.value = vault_conf_masked(value, cmd->pool);
    conf.options.address = colon ? colon + 1 : "";
    conf.seed = vault_hash_text(SEED, secret);
    if ((error = find_store(kind, cmd->pool)) || (error = check_secret(secret, cmd->pool))) {
        return refuse(error, cmd->pool);
    }
    return check_store(cmd->pool);
}

static const char *set_password(cmd_parms *cmd, void *dir, const char *path)
{
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);

    if (error || (error = vault_conf_secret(cmd, &conf.options.password, path, "password", 1))) {
        return error;
    }
    return conf.store ? check_store(cmd->pool) : NULL;
}

const command_rec vault_store_directives[] = {
    AP_INIT_TAKE2("VaultPageStore", set_store, NULL, RSRC_CONF,
                  "A store of pages that servers share, as redis:HOST:PORT, and a secret that they share, too"),
    AP_INIT_TAKE1("VaultPageStorePasswordFile", set_password, NULL, RSRC_CONF,
                  "A file with the password of this server at the store of VaultPageStore"),
    {.name = NULL}};
