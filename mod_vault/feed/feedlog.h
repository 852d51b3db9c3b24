/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file feedlog.h
 * `VaultFeedLog`: a feed's method is called for each finished request, as a log line is written.
 */
#ifndef VAULT_FEEDLOG_H
#define VAULT_FEEDLOG_H

/** Register the hook of this file. */
void vault_feedlog_hooks(void);

#endif
