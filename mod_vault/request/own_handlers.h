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
    int answers_origins; /* answers pages of those other origins that VaultLongPollOrigin names */
    int skips_queue;     /* VaultQosLimit does not hold it back: it does no work for the limited application */
    int of_server; /* shows or changes data of the whole server: answers only where the server's configuration sets it */
} vault_own_handler_t;

/** The row of the handler that will answer `r`; NULL: that is a handler of another module. */
const vault_own_handler_t *vault_own_handler(const request_rec *r);

void vault_own_handler_hooks(void);

#endif
