/* SPDX-License-Identifier: Apache-2.0 */
/* A feed whose descriptor lacks a required part. */
#include "mod_vault/vault.h"

const vault_feed_t vault_feed = {
    .abi = VAULT_FEED_ABI,
    .size = sizeof(vault_feed_t),
    .name = "part",
};
