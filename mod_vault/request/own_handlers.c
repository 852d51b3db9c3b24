/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the module's handlers that have URLs, and a check where those about the whole server may answer. */
#include "request/own_handlers.h"

#include "http_log.h"

#include "base/now.h"
#include "request/request_conf.h"
#include "server/log.h"
#include "server/server.h"

APLOG_USE_MODULE(vault);

const vault_own_handler_t *vault_own_handler(const request_rec *r)
{
    static const vault_own_handler_t handlers[] = {
        {.name = "vault-bundle"},
        {.name = "vault-feed", .answers_origins = 1, .of_server = 1},
        {.name = "vault-notify", .answers_origins = 1, .skips_queue = 1, .of_server = 1},
        {.name = "vault-page", .answers_origins = 1},
        {.name = "vault-poll", .answers_origins = 1, .skips_queue = 1},
        {.name = "vault-status", .skips_queue = 1, .of_server = 1},
    };
    unsigned i;

    for (i = 0; r->handler && i < sizeof(handlers) / sizeof(handlers[0]); i++) {
        if (!strcmp(r->handler, handlers[i].name)) {
            return &handlers[i];
        }
    }
    return NULL;
}

/* Runs before the module's handlers. Otherwise the author of an .htaccess file could open data about the whole
 * server. */
static int refuse(request_rec *r)
{
    static apr_time_t said;
    const vault_own_handler_t *own = vault_own_handler(r);
    const char *set;
    int level;

    if (!own || !own->of_server) {
        return DECLINED;
    }
    set = vault_request_conf_of(r)->handler;
    if (set && !ap_cstr_casecmp(set, own->name)) {
        return DECLINED;
    }
    level = vault_log_seldom(&said, vault_now(), APLOG_WARNING);
    ap_log_rerror(APLOG_MARK, level, 0, r,
                  VLTNO(00307) "%s of %s has no effect: it answers only where a SetHandler of the server's "
                               "configuration sets it, not by .htaccess, AddHandler or a rewrite rule",
                  own->name, r->uri);
    return HTTP_FORBIDDEN;
}

void vault_own_handler_hooks(void)
{
    ap_hook_handler(refuse, NULL, NULL, APR_HOOK_REALLY_FIRST);
}
