/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file throttle_conf.h
 * The directives VaultQos…, and their gates.
 *
 * A gate keeps its name over restarts: it consists of the server's name, the path of the section with the
 * directive and, if several sections have the same path, a number.
 */
#ifndef VAULT_THROTTLE_CONF_H
#define VAULT_THROTTLE_CONF_H

#include "server/conf.h"
#include "throttle/throttle.h"

/** The values of these directives in a section. */
typedef struct vault_throttle_conf_t {
    const vault_throttle_t *throttle; /* VaultQosLimit; NULL: not set */
    apr_array_header_t *ranks;        /* VaultQosPriority, of vault_rule_t; NULL: not set; empty: Off */
    int timeout;                      /* VaultQosTimeout, seconds; 0: not set */
    int queue;                        /* VaultQosQueue; -1: not set */
    int share;                        /* VaultQosQueuePerClient; 0: Off; -1: not set */
} vault_throttle_conf_t;

extern const vault_conf_t vault_throttle_conf;
extern const command_rec vault_throttle_directives[];

/** The values for `r`; NULL: httpd has not merged the sections of the request yet. */
const vault_throttle_conf_t *vault_throttle_conf_of(const request_rec *r);

/** Forget the limits of the last configuration, before the configuration is read. */
void vault_throttle_conf_reset(apr_pool_t *pconf);

/** Open a gate for each VaultQosLimit. Parent, post_config, when the servers have their names.
 * @return 0: there are too many, which has been logged */
int vault_throttle_conf_open(server_rec *s, apr_pool_t *pconf);

/** The values in effect, configured or default: seconds; requests; requests of one client, 0: Off. */
int vault_throttle_conf_timeout(const vault_throttle_conf_t *l);
int vault_throttle_conf_queue(const vault_throttle_conf_t *l);
int vault_throttle_conf_share(const vault_throttle_conf_t *l);

#endif
