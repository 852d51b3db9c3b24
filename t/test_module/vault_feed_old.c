/* SPDX-License-Identifier: Apache-2.0 */
/* A feed built for another version of the interface, none of whose functions may be called. */
#include <stdlib.h>

#include "mod_vault/vault.h"

static const vault_feed_method_t methods[] = {{NULL, 0, NULL}};

static const char *open_feed(void **self, const vault_host_t *host, const apr_table_t *params, apr_pool_t *pool)
{
    abort();
}

const vault_feed_t vault_feed = {
    .abi = VAULT_FEED_ABI + 1,
    .size = sizeof(vault_feed_t),
    .name = "old",
    .methods = methods,
    .open = open_feed,
};
