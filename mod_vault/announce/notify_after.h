/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file notify_after.h
 * VaultNotifyAfter: notifies the interests of a location whenever a request that is not safe (not GET, HEAD,
 * OPTIONS or TRACE) has been handled, whether it succeeded or not. An application can commit and then die, or
 * be given up by httpd, before it can send Vault-Notify. If the child of httpd dies instead, every page is
 * checked for changes anyway.
 */
#ifndef VAULT_NOTIFY_AFTER_H
#define VAULT_NOTIFY_AFTER_H

/** Register the hook of this file. */
void vault_notify_after_hooks(void);

#endif
