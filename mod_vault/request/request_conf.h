/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file request_conf.h
 * The directives on who may send a request: VaultLongPollOrigin and VaultSameOrigin, and what SetHandler has set.
 */
#ifndef VAULT_REQUEST_CONF_H
#define VAULT_REQUEST_CONF_H

#include "server/conf.h"

/** The values of these directives in a section. */
typedef struct vault_request_conf_t {
    const char *handler;         /* by SetHandler, but not in an .htaccess file; NULL: not set */
    apr_array_header_t *origins; /* VaultLongPollOrigin, of const char *; NULL: not set; empty: Off */
    int same_origin;             /* VaultSameOrigin; -1: not set */
} vault_request_conf_t;

extern const vault_conf_t vault_request_conf;
extern const command_rec vault_request_directives[];

/** The values for `r`; NULL: httpd has not merged the sections of the request yet. */
const vault_request_conf_t *vault_request_conf_of(const request_rec *r);

#endif
