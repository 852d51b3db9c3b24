/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file throttle_conf.h
 * The directives VaultQos…, and the gates that come of them.
 *
 * A gate is found again after a restart by its name: the server's, the path of the section that the directive stands in, and, where
 * that is not enough, which one of those it is.
 */
#ifndef VAULT_THROTTLE_CONF_H
#define VAULT_THROTTLE_CONF_H

#include "settings.h"
#include "throttle/throttle.h"

/** Forget those of the last reading of the configuration: before each. */
void vault_throttle_conf_reset(apr_pool_t *pconf);

/** Open a gate for each VaultQosLimit. Parent, post_config, once the configuration has been read and the servers have their names.
 * @return 0 there are too many: the log has been told */
int vault_throttle_conf_open(server_rec *s, apr_pool_t *pconf);

/** What holds in a location, by its directives or by default: seconds; requests; requests of one client, 0: Off. */
int vault_location_qos_timeout(const vault_location_t *l);
int vault_location_qos_queue(const vault_location_t *l);
int vault_location_qos_share(const vault_location_t *l);

/** For vault_commands. */
const char *vault_throttle_set_limit(cmd_parms *cmd, void *dir, const char *value, const char *each);
const char *vault_throttle_set_timeout(cmd_parms *cmd, void *dir, const char *value);
const char *vault_throttle_set_queue(cmd_parms *cmd, void *dir, const char *value);
const char *vault_throttle_set_share(cmd_parms *cmd, void *dir, const char *value);
const char *vault_throttle_set_rank(cmd_parms *cmd, void *dir, const char *value, const char *condition);

#endif
