/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file view_conf.h
 * The directives on views: which responses have a page, and what such a page polls for.
 */
#ifndef VAULT_VIEW_CONF_H
#define VAULT_VIEW_CONF_H

#include "server/conf.h"

/** The values of these directives in a section. */
typedef struct vault_view_conf_t {
    int long_poll;                           /* VaultLongPoll; -1: not set */
    int max_methods;                         /* VaultMaxMethods; 0: not set */
    const char *path;                        /* VaultPath; NULL: not set */
    apr_array_header_t *polls;               /* VaultPoll, of vault_rule_t; NULL: not set; empty: Off */
    apr_array_header_t *interests;           /* VaultInterest, of vault_rule_t; NULL: not set; empty: Off */
    const struct vault_feed_key_t *feed_key; /* VaultFeedKeyFile; NULL: not set */
} vault_view_conf_t;

extern const vault_conf_t vault_view_conf;
extern const command_rec vault_view_directives[];

/** The values for `r`; NULL: httpd has not merged the sections of the request yet. */
const vault_view_conf_t *vault_view_conf_of(const request_rec *r);

/** The values in effect, configured or default. */
int vault_view_conf_max_methods(const vault_view_conf_t *l);
const char *vault_view_conf_path(const vault_view_conf_t *l);

#endif
