/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file feedlog.h
 * `VaultFeedLog`: calls a method of a feed for each finished request, when the access log is written.
 */
#ifndef VAULT_FEEDLOG_H
#define VAULT_FEEDLOG_H

/** Register the hook of this file. */
void vault_feedlog_hooks(void);

#endif
