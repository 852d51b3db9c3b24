/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file api.h
 * The optional functions of vault.h, for other modules of httpd.
 */
#ifndef VAULT_API_H
#define VAULT_API_H

/** Register them. */
void vault_api_register(void);

#endif
