/* SPDX-License-Identifier: Apache-2.0 */
/* The directives on cached responses. */
#include "cache/cache_conf.h"

#include "apr_strings.h"
#include "http_log.h"

#include "base/now.h"
#include "server/log.h"
#include "server/server.h"

APLOG_USE_MODULE(vault);

static vault_cache_conf_t *part_of(void *dir)
{
    return vault_conf_part(dir, VAULT_CONF_CACHE);
}

static void init(void *part)
{
    ((vault_cache_conf_t *)part)->on = ((vault_cache_conf_t *)part)->stale = -1;
}

static void merge(void *part, const void *outer, const void *inner)
{
    const vault_cache_conf_t *o = outer, *i = inner;
    vault_cache_conf_t *l = part;

    VAULT_CONF_MERGE(l, o, i, on, -1);
    VAULT_CONF_MERGE(l, o, i, stale, -1);
    VAULT_CONF_MERGE(l, o, i, key, NULL);
}

const vault_conf_t vault_cache_conf = {sizeof(vault_cache_conf_t), init, merge};

const vault_cache_conf_t *vault_cache_conf_of(const request_rec *r)
{
    return vault_conf_of(r, VAULT_CONF_CACHE);
}

apr_interval_time_t vault_cache_conf_stale(const request_rec *r)
{
    const vault_cache_conf_t *conf = vault_cache_conf_of(r);

    return conf && conf->stale > 0 ? apr_time_from_sec(conf->stale) : 0;
}

const char *vault_cache_conf_varies(request_rec *r)
{
    const vault_cache_conf_t *conf = vault_cache_conf_of(r);
    const char *error = NULL, *varies = conf->key ? ap_expr_str_exec(r, conf->key, &error) : "";

    if (error) {
        static apr_time_t said;
        int level = vault_log_seldom(&said, vault_now(), APLOG_ERR);
        ap_log_rerror(APLOG_MARK, level, 0, r, VLTNO(00397) "VaultCacheKey cannot be evaluated: %s", error);
        return NULL;
    }
    return varies;
}

int vault_cache_conf_is_on(const request_rec *r)
{
    const vault_cache_conf_t *conf = vault_cache_conf_of(r);

    return conf && conf->on == 1;
}

int vault_cache_conf_is_off(const request_rec *r)
{
    const vault_cache_conf_t *conf = vault_cache_conf_of(r);

    return !conf || !conf->on;
}

int vault_cache_conf_is_unset(const request_rec *r)
{
    const vault_cache_conf_t *conf = vault_cache_conf_of(r);

    return conf && conf->on < 0;
}

/* ----------------------------------------------------------------- directives */

static const char *set_on(cmd_parms *cmd, void *dir, int on)
{
    part_of(dir)->on = on;
    return NULL;
}

static const char *set_stale(cmd_parms *cmd, void *dir, const char *value)
{
    return vault_conf_number(cmd, value, 0, 86400, "", &part_of(dir)->stale);
}

static const char *set_key(cmd_parms *cmd, void *dir, const char *value)
{
    const char *wrong = NULL;

    part_of(dir)->key = ap_expr_parse_cmd(cmd, value, AP_EXPR_FLAG_STRING_RESULT, &wrong, NULL);
    return wrong
               ? apr_psprintf(cmd->pool,
                              "%s \"%.100s\": an expression is accepted that gives all that the answers vary by, such "
                              "as \"%%{HTTP:Accept-Language}\"; %s",
                              cmd->cmd->name, value, wrong)
               : NULL;
}

const command_rec vault_cache_directives[] = {
    AP_INIT_FLAG("VaultCache", set_on, NULL, OR_OPTIONS,
                 "On or Off: responses are kept and used again until what they "
                 "depend on changes. Not set: those that are shared by construction"),
    AP_INIT_TAKE1("VaultCacheKey", set_key, NULL, OR_OPTIONS,
                  "An expression that gives all that responses made here vary by"),
    AP_INIT_TAKE1(
        "VaultCacheStale", set_stale, NULL, OR_OPTIONS,
        "for how many seconds an outdated response is used while another request renders it, or if that fails "
        "(0 to 86400)"),
    {NULL},
};
