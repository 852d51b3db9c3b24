/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cluster.h
 * The gateway to other servers: which child has it, and what it reports to the log. For child.c.
 */
#ifndef VAULT_CLUSTER_H
#define VAULT_CLUSTER_H

#include "httpd.h"

#include "gateway/exchange.h"

/** The bytes of the segment for a cluster; 0: none is configured. */
apr_uint64_t vault_cluster_space(void);

/** Create what the children share; parent, before any fork.
 * @param exchange  NULL if no cluster is configured
 * @return 0: it cannot be created; the log says why */
int vault_cluster_make(vault_exchange_t **exchange, vault_segment_t *segment, vault_notifier_t *notifier,
                       server_rec *s);

/** At each start and restart, after the exchange was created or kept.
 * @return 0: the server cannot start; the log says why */
int vault_cluster_configure(const vault_exchange_t *exchange, server_rec *s);

/** About once a second in each child: one of them becomes the gateway. */
void vault_cluster_tick(void);

/** This child ends: another one shall be the gateway, as soon as all notifies were published, or after a second or two.
 * Does not wait. Thread: the waker's. */
void vault_cluster_ask_stop(void);

/** Ask the gateway to end, and wait until it has, for eight seconds at most (VLT00450). Thread: the one that ends the
 * child, after the waker's has ended. */
void vault_cluster_stop(void);

#endif
