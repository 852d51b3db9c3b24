/* SPDX-License-Identifier: Apache-2.0 */
/* The directives on servers that share notifies. */
#include "cluster/cluster_conf.h"

#include <string.h>

#include "apr_file_info.h"
#include "apr_lib.h"
#include "apr_strings.h"
#include "apr_uri.h"
#include "http_core.h"

#include "server/conf.h"

#define SPACE_MAX 40

static vault_cluster_conf_t conf;
static vault_engine_options_t common; /* what all links have */

const vault_cluster_conf_t *vault_cluster_conf(void)
{
    return &conf;
}

void vault_cluster_conf_reset(void)
{
    memset(&conf, 0, sizeof(conf));
    memset(&common, 0, sizeof(common));
    conf.space = "vault";
    conf.strategy = vault_strategy_named("subscriptions");
}

void vault_cluster_conf_complete(const char *server)
{
    unsigned i;

    for (i = 0; i < conf.count; i++) {
        const char *url = conf.links[i].url;
        conf.links[i] = common;
        conf.links[i].url = url;
        conf.links[i].name = server;
        conf.links[i].accepts_routed = vault_strategy_is_for_routed(conf.strategy);
    }
}

/* ----------------------------------------------------------------- directives */

static const char *no_engine(cmd_parms *cmd, const char *value)
{
    return apr_psprintf(
        cmd->pool,
        "%s %s: URLs of notification engines are accepted, such as nats://host:4222, at most %d, all of "
        "one scheme and each once",
        cmd->cmd->name, vault_conf_masked(value, cmd->pool), VAULT_EXCHANGE_LINKS);
}

static int is_known(const char *name)
{
    unsigned i;

    for (i = 0; i < conf.count; i++) {
        if (!strcmp(conf.names[i], name)) {
            return 1;
        }
    }
    return 0;
}

static const char *add_engine(cmd_parms *cmd, void *dir, const char *value)
{
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY), *name;
    apr_uri_t uri;

    if (error) {
        return error;
    }
    if (conf.count == VAULT_EXCHANGE_LINKS || apr_uri_parse(cmd->pool, value, &uri) != APR_SUCCESS || !uri.scheme ||
        !uri.hostname || !*uri.hostname || (uri.path && *uri.path) || uri.query || uri.fragment ||
        (conf.scheme && strcmp(conf.scheme, uri.scheme))) {
        return no_engine(cmd, value);
    }
    name = apr_psprintf(cmd->pool, "%s:%s", uri.hostname, uri.port_str ? uri.port_str : "4222");
    if (is_known(name)) {
        return no_engine(cmd, value);
    }
    conf.scheme = uri.scheme;
    conf.names[conf.count] = name;
    conf.links[conf.count++].url = value;
    return NULL;
}

static const char *set_space(cmd_parms *cmd, void *dir, const char *value)
{
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY), *at = value;

    while (*at && (apr_isalnum(*at) || *at == '-' || *at == '_')) {
        at++;
    }
    if (!error && (*at || at == value || at - value > SPACE_MAX)) {
        error = apr_psprintf(cmd->pool, "%s %s: 1 to %d letters, digits, - and _ are accepted", cmd->cmd->name, value,
                             SPACE_MAX);
    }
    conf.space = value;
    return error;
}

static const char *set_strategy(cmd_parms *cmd, void *dir, const char *value)
{
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);
    const vault_strategy_t *strategy = vault_strategy_named(value);

    if (!error && !strategy) {
        error =
            apr_psprintf(cmd->pool, "%s %s: subscriptions, filters and broadcast are accepted", cmd->cmd->name, value);
    }
    conf.strategy = strategy;
    return error;
}

/* @param path  made absolute */
static const char *check_file(cmd_parms *cmd, const char **path)
{
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);
    apr_finfo_t info;

    if (error) {
        return error;
    }
    *path = ap_server_root_relative(cmd->pool, *path);
    return *path && apr_stat(&info, *path, APR_FINFO_TYPE, cmd->temp_pool) == APR_SUCCESS && info.filetype == APR_REG
               ? NULL
               : apr_psprintf(cmd->pool, "%s %s: a file is accepted that exists", cmd->cmd->name, *path ? *path : "");
}

static const char *set_credentials(cmd_parms *cmd, void *dir, const char *path)
{
    const char *error = check_file(cmd, &path);

    common.credentials = path;
    return error;
}

static const char *set_nkey(cmd_parms *cmd, void *dir, const char *key, const char *path)
{
    const char *error = check_file(cmd, &path);

    common.nkey = key;
    common.nkey_seed = path;
    return error;
}

static const char *set_ca(cmd_parms *cmd, void *dir, const char *path)
{
    const char *error = check_file(cmd, &path);

    common.ca = path;
    return error;
}

static const char *set_certificate(cmd_parms *cmd, void *dir, const char *path, const char *key)
{
    const char *error = check_file(cmd, &path);

    error = error ? error : check_file(cmd, &key);
    common.certificate = path;
    common.key = key;
    return error;
}

const command_rec vault_cluster_directives[] = {
    AP_INIT_ITERATE("VaultCluster", add_engine, NULL, RSRC_CONF,
                    "URLs of the notification engines that pass notifies between servers"),
    AP_INIT_TAKE1("VaultClusterNamespace", set_space, NULL, RSRC_CONF,
                  "A name: only servers with the same one share notifies"),
    AP_INIT_TAKE1("VaultClusterStrategy", set_strategy, NULL, RSRC_CONF,
                  "How a notify reaches the servers whose pages hold its interest"),
    AP_INIT_TAKE1("VaultClusterCredentials", set_credentials, NULL, RSRC_CONF,
                  "A file with the credentials of a user of the engines"),
    AP_INIT_TAKE2("VaultClusterNKey", set_nkey, NULL, RSRC_CONF,
                  "The public nkey of a user of the engines, and a file with its seed"),
    AP_INIT_TAKE1("VaultClusterCACertificateFile", set_ca, NULL, RSRC_CONF,
                  "A file with the certificates that sign those of the engines; connections are by TLS"),
    AP_INIT_TAKE2("VaultClusterCertificate", set_certificate, NULL, RSRC_CONF,
                  "A file with this server's certificate for the engines, and one with its key"),
    {NULL},
};
