/* SPDX-License-Identifier: Apache-2.0 */
/* The directives on page views. */
#include "view/view_conf.h"

#include "apr_strings.h"
#include "http_core.h"

#include "mod_vault/vault.h"
#include "server/rules.h"
#include "view/feed_key.h"

static vault_view_conf_t *part_of(void *dir)
{
    return vault_conf_part(dir, VAULT_CONF_VIEW);
}

static void init(void *part)
{
    vault_view_conf_t *l = part;

    l->long_poll = -1;
}

static void merge(void *part, const void *outer, const void *inner)
{
    const vault_view_conf_t *o = outer, *i = inner;
    vault_view_conf_t *l = part;

    VAULT_CONF_MERGE(l, o, i, long_poll, -1);
    VAULT_CONF_MERGE(l, o, i, max_methods, 0);
    VAULT_CONF_MERGE(l, o, i, path, NULL);
    VAULT_CONF_MERGE(l, o, i, polls, NULL);
    VAULT_CONF_MERGE(l, o, i, interests, NULL);
    VAULT_CONF_MERGE(l, o, i, feed_key, NULL);
}

const vault_conf_t vault_view_conf = {sizeof(vault_view_conf_t), init, merge};

const vault_view_conf_t *vault_view_conf_of(const request_rec *r)
{
    return vault_conf_of(r, VAULT_CONF_VIEW);
}

int vault_view_conf_max_methods(const vault_view_conf_t *l)
{
    return l->max_methods ? l->max_methods : 16;
}

const char *vault_view_conf_path(const vault_view_conf_t *l)
{
    return l->path ? l->path : "/vault";
}

/* ----------------------------------------------------------------- directives */

static const char *set_long_poll(cmd_parms *cmd, void *dir, int on)
{
    part_of(dir)->long_poll = on;
    return NULL;
}

static const char *set_max_methods(cmd_parms *cmd, void *dir, const char *value)
{
    return vault_conf_number(cmd, value, 1, 100, "", &part_of(dir)->max_methods);
}

static const char *set_path(cmd_parms *cmd, void *dir, const char *value)
{
    apr_size_t len = strlen(value);

    if (value[0] != '/' || len < 2 || value[len - 1] == '/' || strpbrk(value, "?#\"'<>& ")) {
        return apr_psprintf(
            cmd->pool,
            "%s %s: a URL path is accepted that begins with a slash, does not end with one and needs no quoting, "
            "such as /vault",
            cmd->cmd->name, value);
    }
    part_of(dir)->path = value;
    return NULL;
}

static int has_variables(const char *value)
{
    return ap_strchr_c(value, '%') || ap_strchr_c(value, '$');
}

static const char *set_poll(cmd_parms *cmd, void *dir, const char *value, const char *condition)
{
    vault_view_conf_t *l = part_of(dir);

    if (!vault_rules_is_off(value, condition) && !has_variables(value) && (value[0] != '/' || value[1] == '/')) {
        return apr_psprintf(cmd->pool,
                            "%s %.100s: a path of this server is accepted that begins with one slash, or an expression "
                            "that gives one, and then the condition under which it holds, if there is one; or Off",
                            cmd->cmd->name, value);
    }
    return vault_rules_add(cmd, &l->polls, value, condition, 0);
}

static const char *set_interest(cmd_parms *cmd, void *dir, const char *value, const char *condition)
{
    vault_view_conf_t *l = part_of(dir);

    if (!*value || (!has_variables(value) && strlen(value) > VAULT_INTEREST_MAX)) {
        return apr_psprintf(
            cmd->pool,
            "%s \"%.40s\": the name of an interest, of 1 to %d bytes, is accepted, or an expression that "
            "gives one, and then the condition under which it holds, if there is one; or Off",
            cmd->cmd->name, value, VAULT_INTEREST_MAX);
    }
    return vault_rules_add(cmd, &l->interests, value, condition, AP_EXPR_FLAG_DONT_VARY);
}

static const char *set_feed_key(cmd_parms *cmd, void *dir, const char *path)
{
    return vault_feed_key_read(cmd, &part_of(dir)->feed_key, path);
}

const command_rec vault_view_directives[] = {
    AP_INIT_FLAG("VaultLongPoll", set_long_poll, NULL, OR_OPTIONS, "On or Off: pages made here may poll for updates"),
    AP_INIT_TAKE1("VaultMaxMethods", set_max_methods, NULL, OR_OPTIONS, "how many methods a page may have (1 to 100)"),
    AP_INIT_TAKE1("VaultPath", set_path, NULL, OR_OPTIONS, "the URL path below which browsers find poll and vault.js"),
    AP_INIT_TAKE12("VaultPoll", set_poll, NULL, OR_OPTIONS,
                   "a path that the pages made here poll for updates, and the condition under which they do; or Off"),
    AP_INIT_TAKE12(
        "VaultInterest", set_interest, NULL, OR_OPTIONS,
        "an interest that makes the methods here run again, and the condition under which they wait for it; or Off"),
    AP_INIT_TAKE1("VaultFeedKeyFile", set_feed_key, NULL, RSRC_CONF,
                  "a file with the key by which applications call feeds from server to server; or Off"),
    {.name = NULL}};
