/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file request_conf.h
 * The directives on who may send a request: VaultLongPollOrigin and VaultSameOrigin, and what SetHandler has set.
 */
#ifndef VAULT_REQUEST_CONF_H
#define VAULT_REQUEST_CONF_H

#include "server/conf.h"

/** What the directives of a section say. */
typedef struct vault_request_conf_t {
    const char *handler;         /* SetHandler, but of no .htaccess file; NULL: not said */
    apr_array_header_t *origins; /* VaultLongPollOrigin, of const char *; NULL: not said; empty: Off */
    int same_origin;             /* VaultSameOrigin; -1: not said */
} vault_request_conf_t;

extern const vault_conf_t vault_request_conf;
extern const command_rec vault_request_directives[];

/** What holds for `r`; NULL: httpd has not looked for its sections. */
const vault_request_conf_t *vault_request_conf_of(const request_rec *r);

#endif
