/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file notify_after.h
 * VaultNotifyAfter: an application may have committed and then died, or not have been waited for, before it could say Vault-Notify. So
 * the interests of its location are notified whenever a request that is not safe (not GET, HEAD, OPTIONS or TRACE) has been handled, well
 * or not. When a child of httpd dies on the way, every page looks again anyway.
 */
#ifndef VAULT_NOTIFY_AFTER_H
#define VAULT_NOTIFY_AFTER_H

/** Register the hook of this file. */
void vault_notify_after_hooks(void);

#endif
