/* SPDX-License-Identifier: Apache-2.0 */
/* The directives on sessions. */
#include "session/session_conf.h"

#include "apr_lib.h"
#include "apr_strings.h"
#include "http_core.h"

static vault_session_conf_t *part_of(void *dir)
{
    return vault_conf_part(dir, VAULT_CONF_SESSION);
}

static void init(void *part)
{
    vault_session_conf_t *l = part;

    l->on = -1;
    l->bound = -1;
}

static void merge(void *part, const void *outer, const void *inner)
{
    const vault_session_conf_t *o = outer, *i = inner;
    vault_session_conf_t *l = part;

    VAULT_CONF_MERGE(l, o, i, on, -1);
    VAULT_CONF_MERGE(l, o, i, timeout, 0);
    VAULT_CONF_MERGE(l, o, i, bound, -1);
    VAULT_CONF_MERGE(l, o, i, cookie, NULL);
}

const vault_conf_t vault_session_conf = {sizeof(vault_session_conf_t), init, merge};

const vault_session_conf_t *vault_session_conf_of(const request_rec *r)
{
    return vault_conf_of(r, VAULT_CONF_SESSION);
}

int vault_session_conf_is_on(const request_rec *r)
{
    const vault_session_conf_t *l = vault_session_conf_of(r);

    return l && l->on == 1;
}

int vault_session_conf_timeout(const vault_session_conf_t *l)
{
    return l->timeout ? l->timeout : 1800;
}

const char *vault_session_conf_cookie(const vault_session_conf_t *l)
{
    return l->cookie ? l->cookie : "vault_session";
}

/* ----------------------------------------------------------------- directives */

static const char *set_on(cmd_parms *cmd, void *dir, int on)
{
    part_of(dir)->on = on;
    return NULL;
}

static const char *set_timeout(cmd_parms *cmd, void *dir, const char *value)
{
    return vault_conf_number(cmd, value, 1, 30 * 86400, "", &part_of(dir)->timeout);
}

static const char *set_bound(cmd_parms *cmd, void *dir, int on)
{
    part_of(dir)->bound = on;
    return NULL;
}

/* A token of HTTP, but without the characters that mean something to scripts and shells. */
static const char *set_cookie(cmd_parms *cmd, void *dir, const char *name)
{
    const char *p;

    for (p = name; apr_isalnum(*p) || *p == '_' || *p == '-' || *p == '.'; p++) {
    }
    if (p == name || *p || p - name > 64) {
        return apr_psprintf(cmd->pool,
                            "%s %.100s: a name of 1 to 64 letters, digits, dots, hyphens and underscores is accepted",
                            cmd->cmd->name, name);
    }
    part_of(dir)->cookie = name;
    return NULL;
}

const command_rec vault_session_directives[] = {
    AP_INIT_FLAG("VaultSession", set_on, NULL, OR_OPTIONS, "On or Off: requests here have session properties"),
    AP_INIT_TAKE1("VaultSessionTimeout", set_timeout, NULL, OR_OPTIONS,
                  "a session without a request for so many seconds expires (1 to 2592000)"),
    AP_INIT_TAKE1("VaultSessionCookie", set_cookie, NULL, OR_OPTIONS, "the name of the cookie of sessions"),
    AP_INIT_FLAG("VaultSessionBindAddress", set_bound, NULL, OR_OPTIONS,
                 "On or Off: a session is only for the address that made it"),
    {.name = NULL}};
