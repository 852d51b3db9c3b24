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

#include "server/conf.h"
#include "throttle/throttle.h"

/** What the directives of a section say. */
typedef struct vault_throttle_conf_t {
    const vault_throttle_t *throttle; /* VaultQosLimit; NULL: not said */
    apr_array_header_t *ranks;        /* VaultQosPriority, of vault_rule_t; NULL: not said; empty: Off */
    int timeout;                      /* VaultQosTimeout, seconds; 0: not said */
    int queue;                        /* VaultQosQueue; -1: not said */
    int share;                        /* VaultQosQueuePerClient; 0: Off; -1: not said */
} vault_throttle_conf_t;

extern const vault_conf_t vault_throttle_conf;
extern const command_rec vault_throttle_directives[];

/** What holds for `r`; NULL: httpd has not looked for its sections. */
const vault_throttle_conf_t *vault_throttle_conf_of(const request_rec *r);

/** Forget those of the last reading of the configuration: before each. */
void vault_throttle_conf_reset(apr_pool_t *pconf);

/** Open a gate for each VaultQosLimit. Parent, post_config, once the configuration has been read and the servers have their names.
 * @return 0 there are too many: the log has been told */
int vault_throttle_conf_open(server_rec *s, apr_pool_t *pconf);

/** What holds in a location, by its directives or by default: seconds; requests; requests of one client, 0: Off. */
int vault_throttle_conf_timeout(const vault_throttle_conf_t *l);
int vault_throttle_conf_queue(const vault_throttle_conf_t *l);
int vault_throttle_conf_share(const vault_throttle_conf_t *l);

#endif
