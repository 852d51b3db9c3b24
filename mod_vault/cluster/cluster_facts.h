/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cluster_facts.h
 * What this server says of itself to the other servers of its cluster, and which servers there are. Any thread.
 */
#ifndef VAULT_CLUSTER_FACTS_H
#define VAULT_CLUSTER_FACTS_H

#include "gateway/peers.h"

/** The facts of this server. A cluster is configured. */
void vault_cluster_facts(vault_facts_t *facts);

/** The servers of the cluster, this one first. One that is silent for VAULT_GATEWAY_SILENCE is not among them.
 * @param servers  has room for VAULT_PEERS_MAX + 1
 * @return how many there are; 0: no cluster is configured */
unsigned vault_cluster_servers(vault_peer_t *servers);

/** How many vault_cluster_servers() would find. */
unsigned vault_cluster_count(void);

#endif
