/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file local.h
 * `Require vault-local`: requests of this machine that no proxy has passed on.
 *
 * `Require local` looks at the address of the connection alone, so behind a proxy on the same machine every visitor is local.
 */
#ifndef VAULT_LOCAL_H
#define VAULT_LOCAL_H

#include "httpd.h"

void vault_local_register(apr_pool_t *p);

#endif
