/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file store_conf.h
 * The directive VaultPageStore.
 */
#ifndef VAULT_STORE_CONF_H
#define VAULT_STORE_CONF_H

#include "httpd.h"
#include "http_config.h"

#include "mod_vault/store.h"

typedef struct vault_store_conf_t {
    const vault_store_t *store; /* NULL: not configured */
    const char *value;          /* for the log, without a password */
    vault_store_options_t options;
    apr_uint64_t seed; /* from the secret */
} vault_store_conf_t;

extern const command_rec vault_store_directives[];

/** Const after the configuration has been read. */
const vault_store_conf_t *vault_store_conf(void);

/** Forget the last configuration, before the configuration is read. */
void vault_store_conf_reset(void);

#endif
