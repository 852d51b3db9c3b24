/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file declared.h
 * What the configuration declares for applications that cannot be changed: VaultPoll in the place of the header Vault-Poll, VaultInterest in the
 * place of Vault-Interest. headers.c takes both as if the application had sent them.
 *
 * A header that mod_headers adds (`Header set Vault-Poll …`) comes after the module has read the application's headers: it would have no effect,
 * and the browser would see it. Such a line stops the start and names the directive to use.
 */
#ifndef VAULT_DECLARED_H
#define VAULT_DECLARED_H

#include "httpd.h"
#include "http_config.h"

/** For vault_commands. */
const char *vault_declared_set_poll(cmd_parms *cmd, void *dir, const char *value, const char *condition);
const char *vault_declared_set_interest(cmd_parms *cmd, void *dir, const char *value, const char *condition);

/** What the rules give for `r`: of const char *, without those that are empty or whose conditions do not hold.
 * @param rules      of vault_rule_t; may be NULL
 * @param directive  for the log line of an expression that fails */
apr_array_header_t *vault_declared(request_rec *r, const apr_array_header_t *rules, const char *directive);

/** Register the check of the configuration. */
void vault_declared_hooks(void);

#endif
