/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the handlers that have URLs. */
#include "own_handlers.h"

const vault_own_handler_t *vault_own_handler(const request_rec *r)
{
    static const vault_own_handler_t handlers[] = {
        {.name = "vault-feed", .answers_origins = 1},
        {.name = "vault-notify", .answers_origins = 1, .skips_queue = 1},
        {.name = "vault-page", .answers_origins = 1},
        {.name = "vault-poll", .answers_origins = 1, .skips_queue = 1},
        {.name = "vault-status", .skips_queue = 1},
    };
    unsigned i;

    for (i = 0; r->handler && i < sizeof(handlers) / sizeof(handlers[0]); i++) {
        if (!strcmp(r->handler, handlers[i].name)) {
            return &handlers[i];
        }
    }
    return NULL;
}
