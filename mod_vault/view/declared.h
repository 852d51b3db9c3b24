/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file declared.h
 * Directives for applications that the administrator cannot change: VaultPoll replaces the header Vault-Poll, and
 * VaultInterest the header Vault-Interest. headers.c treats both as if the application had sent the header.
 *
 * mod_headers adds its headers (`Header set Vault-Poll …`) after the module has read those of the application. Such a
 * header would have no effect, and the browser would see it. Therefore such a line stops the start, with an error
 * that names the directive to use.
 */
#ifndef VAULT_DECLARED_H
#define VAULT_DECLARED_H

#include "httpd.h"
#include "http_config.h"

/** The values of the rules whose conditions hold for `r`, as an array of const char *. Empty values are omitted.
 * @param rules      of vault_rule_t; may be NULL
 * @param directive  named in the log line if an expression fails */
apr_array_header_t *vault_declared(request_rec *r, const apr_array_header_t *rules, const char *directive);

/** Register the check of the configuration. */
void vault_declared_hooks(void);

#endif
