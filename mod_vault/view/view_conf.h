/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file view_conf.h
 * The directives on page views: which have a page, and what such a page asks for.
 */
#ifndef VAULT_VIEW_CONF_H
#define VAULT_VIEW_CONF_H

#include "server/conf.h"

/** What the directives of a section say. */
typedef struct vault_view_conf_t {
    int long_poll;                           /* VaultLongPoll; -1: not said */
    int max_methods;                         /* VaultMaxMethods; 0: not said */
    const char *path;                        /* VaultPath; NULL: not said */
    apr_array_header_t *polls;               /* VaultPoll, of vault_rule_t; NULL: not said; empty: Off */
    apr_array_header_t *interests;           /* VaultInterest, of vault_rule_t; NULL: not said; empty: Off */
    const struct vault_feed_key_t *feed_key; /* VaultFeedKeyFile; NULL: not said */
} vault_view_conf_t;

extern const vault_conf_t vault_view_conf;
extern const command_rec vault_view_directives[];

/** What holds for `r`; NULL: httpd has not looked for its sections. */
const vault_view_conf_t *vault_view_conf_of(const request_rec *r);

/** What holds, by directives or by default. */
int vault_view_conf_max_methods(const vault_view_conf_t *l);
const char *vault_view_conf_path(const vault_view_conf_t *l);

#endif
