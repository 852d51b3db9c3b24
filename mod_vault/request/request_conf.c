/* SPDX-License-Identifier: Apache-2.0 */
/* The directives on who may send a request. */
#include "request/request_conf.h"

#include "apr_strings.h"
#include "http_core.h"

#include "request/origin.h"

static vault_request_conf_t *part_of(void *dir)
{
    return vault_conf_part(dir, VAULT_CONF_REQUEST);
}

static void init(void *part)
{
    vault_request_conf_t *l = part;

    l->same_origin = -1;
}

static void merge(void *part, const void *outer, const void *inner)
{
    const vault_request_conf_t *o = outer, *i = inner;
    vault_request_conf_t *l = part;

    VAULT_CONF_MERGE(l, o, i, handler, NULL);
    VAULT_CONF_MERGE(l, o, i, origins, NULL);
    VAULT_CONF_MERGE(l, o, i, same_origin, -1);
}

const vault_conf_t vault_request_conf = {sizeof(vault_request_conf_t), init, merge};

const vault_request_conf_t *vault_request_conf_of(const request_rec *r)
{
    return vault_conf_of(r, VAULT_CONF_REQUEST);
}

/* ----------------------------------------------------------------- directives */

/* Records the handlers that the server's configuration sets. httpd calls every module that has a directive of
 * this name; the core is the one that acts on it. */
static const char *set_handler(cmd_parms *cmd, void *dir, const char *name)
{
    if (!ap_check_cmd_context(cmd, NOT_IN_HTACCESS)) {
        part_of(dir)->handler = name;
    }
    return DECLINE_CMD;
}

static const char *set_same_origin(cmd_parms *cmd, void *dir, int on)
{
    part_of(dir)->same_origin = on;
    return NULL;
}

static const char *add_origin(cmd_parms *cmd, void *dir, const char *text)
{
    vault_request_conf_t *l = part_of(dir);
    int off = !ap_cstr_casecmp(text, "off");
    const char *origin = off ? text : vault_origin_parse(text, cmd->pool);

    if (!origin) {
        return apr_psprintf(cmd->pool,
                            "%s %.100s: an origin is accepted, as https://www.example.org or http://localhost:8080, "
                            "without a path; or *, for requests without credentials; or Off",
                            cmd->cmd->name, text);
    }
    vault_conf_add_word(&l->origins, off ? NULL : origin, cmd->pool);
    return NULL;
}

const command_rec vault_request_directives[] = {
    AP_INIT_TAKE1("SetHandler", set_handler, NULL, OR_FILEINFO, "a handler's name, as the core has it"),
    AP_INIT_ITERATE("VaultLongPollOrigin", add_origin, NULL, RSRC_CONF | ACCESS_CONF,
                    "origins of other sites whose pages may poll here, as https://www.example.org; or *; or Off"),
    AP_INIT_FLAG("VaultSameOrigin", set_same_origin, NULL, RSRC_CONF | ACCESS_CONF,
                 "On or Off: other methods than GET, HEAD, OPTIONS and TRACE are for pages of this origin"),
    {.name = NULL}};
