/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file settings_feeds.h
 * The directives that name feeds: VaultFeed, VaultFeedLog and VaultFeedExpose. For the list of settings.c.
 */
#ifndef VAULT_SETTINGS_FEEDS_H
#define VAULT_SETTINGS_FEEDS_H

#include "settings.h"

/** Each takes the words of one line.
 * @return NULL, or the sentence that stops the start */
const char *vault_settings_add_feed(cmd_parms *cmd, void *dir, int argc, char *const argv[]);
const char *vault_settings_add_feed_log(cmd_parms *cmd, void *dir, int argc, char *const argv[]);
const char *vault_settings_add_feed_expose(cmd_parms *cmd, void *dir, int argc, char *const argv[]);

#endif
