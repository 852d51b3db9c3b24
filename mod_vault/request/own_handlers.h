/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file own_handlers.h
 * A table of the module's own handlers that have URLs. A row says in which ways httpd treats the handler unlike that
 * of an application.
 *
 * These handlers render no HTML, so the module makes no page for their requests. Their requests change no data of the
 * site.
 */
#ifndef VAULT_OWN_HANDLERS_H
#define VAULT_OWN_HANDLERS_H

#include "httpd.h"
#include "http_config.h"

typedef struct vault_own_handler_t {
    const char *name;
    int answers_origins; /* also answers pages of the origins that VaultLongPollOrigin lists */
    int skips_queue;     /* is exempt from VaultQosLimit, since it does no work for the limited application */
    int of_server;       /* shows or changes data of the whole server, so only the server's configuration may set it */
} vault_own_handler_t;

/** The row of the handler that will answer `r`; NULL: a handler of another module. */
const vault_own_handler_t *vault_own_handler(const request_rec *r);

void vault_own_handler_hooks(void);

#endif
