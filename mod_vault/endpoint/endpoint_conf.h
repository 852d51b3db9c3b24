/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file endpoint_conf.h
 * The directive on methods that browsers may call by URL: VaultFeedExpose.
 */
#ifndef VAULT_ENDPOINT_CONF_H
#define VAULT_ENDPOINT_CONF_H

#include "server/conf.h"

/** One method of `VaultFeedExpose NAME METHOD …`. */
typedef struct vault_exposed_t {
    const char *feed;
    const char *method;
} vault_exposed_t;

/** The values of this directive in a section. */
typedef struct vault_endpoint_conf_t {
    apr_array_header_t *exposed; /* VaultFeedExpose, of vault_exposed_t; NULL: not set; empty: Off */
} vault_endpoint_conf_t;

extern const vault_conf_t vault_endpoint_conf;
extern const command_rec vault_endpoint_directives[];

/** The values for `r`; NULL: httpd has not merged the sections of the request yet. */
const vault_endpoint_conf_t *vault_endpoint_conf_of(const request_rec *r);

#endif
