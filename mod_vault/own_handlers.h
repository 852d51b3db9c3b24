/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file own_handlers.h
 * The handlers of this module that have URLs: one row each, with what sets them apart from an application's handlers.
 *
 * No page is rendered by them, so they make no page, and a request for one of them changes no data of the site.
 */
#ifndef VAULT_OWN_HANDLERS_H
#define VAULT_OWN_HANDLERS_H

#include "httpd.h"
#include "http_config.h"

typedef struct vault_own_handler_t {
    const char *name;
    int answers_origins; /* pages of other origins may ask it, where VaultLongPollOrigin says so */
    int skips_queue;     /* VaultQosLimit does not hold it back: it does no work for the limited application */
    int of_server; /* it shows or changes what is the whole server's: answers only where the server's configuration sets it */
} vault_own_handler_t;

/** The row of the handler that is to answer `r`; NULL: another module's. */
const vault_own_handler_t *vault_own_handler(const request_rec *r);

/** SetHandler, which is the core's: notes what the server's configuration sets, and not .htaccess files. */
const char *vault_own_handler_set(cmd_parms *cmd, void *dir, const char *name);

void vault_own_handler_hooks(void);

#endif
