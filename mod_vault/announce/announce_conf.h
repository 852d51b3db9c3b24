/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file announce_conf.h
 * The directives on notifies: VaultNotify, VaultNotifyAfter and VaultNotifyRate.
 */
#ifndef VAULT_ANNOUNCE_CONF_H
#define VAULT_ANNOUNCE_CONF_H

#include "server/conf.h"

/** The values of these directives in a section. */
typedef struct vault_announce_conf_t {
    apr_array_header_t *after; /* VaultNotifyAfter, of const char *; NULL: not set; empty: Off */
    int header;                /* VaultNotify: is the header Vault-Notify honoured; -1: not set, which means yes */
} vault_announce_conf_t;

extern const vault_conf_t vault_announce_conf;
extern const command_rec vault_announce_directives[];

/** The values for `r`; NULL: httpd has not merged the sections of the request yet. */
const vault_announce_conf_t *vault_announce_conf_of(const request_rec *r);

/** VaultNotifyRate: notifies of one client a second; 0: no limit. */
int vault_announce_conf_rate(void);

/** Restore the defaults, before the configuration is read. */
void vault_announce_conf_reset(void);

#endif
