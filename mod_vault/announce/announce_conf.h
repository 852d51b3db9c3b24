/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file announce_conf.h
 * The directives on notifies: VaultNotify, VaultNotifyAfter and VaultNotifyRate.
 */
#ifndef VAULT_ANNOUNCE_CONF_H
#define VAULT_ANNOUNCE_CONF_H

#include "server/conf.h"

/** What the directives of a section say. */
typedef struct vault_announce_conf_t {
    apr_array_header_t *after; /* VaultNotifyAfter, of const char *; NULL: not said; empty: Off */
    int header;                /* VaultNotify: does Vault-Notify count; -1: not said, it does */
} vault_announce_conf_t;

extern const vault_conf_t vault_announce_conf;
extern const command_rec vault_announce_directives[];

/** What holds for `r`; NULL: httpd has not looked for its sections. */
const vault_announce_conf_t *vault_announce_conf_of(const request_rec *r);

/** VaultNotifyRate: notifies of one client a second; 0: no limit. */
int vault_announce_conf_rate(void);

/** Back to the defaults: before each reading of the configuration. */
void vault_announce_conf_reset(void);

#endif
