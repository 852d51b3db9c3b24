/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cluster_conf.h
 * The directives on servers that share notifies: VaultCluster and those whose names begin so.
 */
#ifndef VAULT_CLUSTER_CONF_H
#define VAULT_CLUSTER_CONF_H

#include "httpd.h"
#include "http_config.h"

#include "gateway/gateway.h"

/** The values in effect in this process; const once the configuration has been read. */
typedef struct vault_cluster_conf_t {
    unsigned count;                                     /* engines; 0: no cluster is configured */
    const char *scheme;                                 /* of all engines; NULL: none */
    vault_engine_options_t links[VAULT_EXCHANGE_LINKS]; /* by engine */
    const char *names[VAULT_EXCHANGE_LINKS];            /* host and port of each */
    const char *space;                                  /* VaultClusterNamespace */
    const vault_strategy_t *strategy;                   /* VaultClusterStrategy */
} vault_cluster_conf_t;

const vault_cluster_conf_t *vault_cluster_conf(void);

extern const command_rec vault_cluster_directives[];

/** Restore the defaults, before the configuration is read. */
void vault_cluster_conf_reset(void);

/** The configuration has been read: complete the links. */
void vault_cluster_conf_complete(const char *server);

#endif
