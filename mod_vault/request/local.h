/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file local.h
 * `Require vault-local` admits requests of this machine that no proxy has forwarded.
 *
 * `Require local` checks only the address of the connection, so behind a proxy on the same machine every
 * visitor would be local.
 */
#ifndef VAULT_LOCAL_H
#define VAULT_LOCAL_H

#include "httpd.h"

void vault_local_register(apr_pool_t *p);

#endif
