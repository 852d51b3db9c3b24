/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file suspend.h
 * The handler `vault-suspend-test`: a module that suspends requests, correctly and incorrectly. See suspend.c.
 */
#ifndef VAULT_TEST_SUSPEND_H
#define VAULT_TEST_SUSPEND_H

/** Register the hooks of this file. */
void suspend_hooks(void);

#endif
