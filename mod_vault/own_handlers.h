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

typedef struct vault_own_handler_t {
    const char *name;
    int answers_origins; /* pages of other origins may ask it, where VaultLongPollOrigin says so */
    int skips_queue;     /* VaultQosLimit does not hold it back: it does no work for the limited application */
} vault_own_handler_t;

/** The row of the handler that is to answer `r`; NULL: another module's. */
const vault_own_handler_t *vault_own_handler(const request_rec *r);

#endif
