/* SPDX-License-Identifier: Apache-2.0 */
/* The directives on notifies. */
#include "announce/announce_conf.h"

#include "apr_strings.h"
#include "http_core.h"

#include "mod_vault/vault.h"

static int rate;

static vault_announce_conf_t *part_of(void *dir)
{
    return vault_conf_part(dir, VAULT_CONF_ANNOUNCE);
}

static void init(void *part)
{
    vault_announce_conf_t *l = part;

    l->header = -1;
}

static void merge(void *part, const void *outer, const void *inner)
{
    const vault_announce_conf_t *o = outer, *i = inner;
    vault_announce_conf_t *l = part;

    VAULT_CONF_MERGE(l, o, i, after, NULL);
    VAULT_CONF_MERGE(l, o, i, header, -1);
}

const vault_conf_t vault_announce_conf = {sizeof(vault_announce_conf_t), init, merge};

const vault_announce_conf_t *vault_announce_conf_of(const request_rec *r)
{
    return vault_conf_of(r, VAULT_CONF_ANNOUNCE);
}

int vault_announce_conf_rate(void)
{
    return rate;
}

void vault_announce_conf_reset(void)
{
    rate = 100;
}

/* ----------------------------------------------------------------- directives */

static const char *add_notify_after(cmd_parms *cmd, void *dir, const char *name)
{
    vault_announce_conf_t *l = part_of(dir);
    apr_size_t length = strlen(name);

    if (!length || length > VAULT_INTEREST_MAX) {
        return apr_psprintf(cmd->pool, "%s \"%.40s\": the name of an interest, of 1 to %d bytes, is accepted; or Off",
                            cmd->cmd->name, name, VAULT_INTEREST_MAX);
    }
    vault_conf_add_word(&l->after, ap_cstr_casecmp(name, "off") ? name : NULL, cmd->pool);
    return NULL;
}

static const char *set_notify(cmd_parms *cmd, void *dir, int on)
{
    part_of(dir)->header = on;
    return NULL;
}

static const char *set_rate(cmd_parms *cmd, void *dir, const char *value)
{
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);

    return error ? error : vault_conf_number(cmd, value, 0, 1000000, "", &rate);
}

const command_rec vault_announce_directives[] = {
    AP_INIT_FLAG("VaultNotify", set_notify, NULL, OR_OPTIONS,
                 "On or Off: whether the header Vault-Notify of an answer notifies"),
    AP_INIT_ITERATE("VaultNotifyAfter", add_notify_after, NULL, OR_OPTIONS,
                    "interests that are notified when a request that may have written ends, however it ends; or Off"),
    AP_INIT_TAKE1("VaultNotifyRate", set_rate, NULL, RSRC_CONF,
                  "how many notifies a second of one client are sent at once; 0: all"),
    {.name = NULL}};
