/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cluster_status.h
 * The servers of the cluster, as their heartbeats say. Without VaultCluster there are none.
 */
#ifndef VAULT_CLUSTER_STATUS_H
#define VAULT_CLUSTER_STATUS_H

#include "httpd.h"

/** ?cluster: an object with the list of servers, in JSON. */
int vault_cluster_status_write(request_rec *r);

/** Lines `Server1Address: web1:80`. */
void vault_cluster_status_auto(request_rec *r);

/** A heading and a table. */
void vault_cluster_status_html(request_rec *r);

#endif
