/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file qos_status.h
 * The locations with VaultQosLimit, in each format of the status page. Without such locations, nothing is
 * shown.
 */
#ifndef VAULT_QOS_STATUS_H
#define VAULT_QOS_STATUS_H

#include <jansson.h>

#include "httpd.h"

/** A list of objects. */
json_t *vault_qos_status_json(apr_pool_t *pool);

/** Lines `Qos1Location: localhost:80 /app`. */
void vault_qos_status_auto(request_rec *r);

/** A heading and a table. */
void vault_qos_status_html(request_rec *r);

/** Families of metrics, with the location as a label. */
void vault_qos_status_metrics(request_rec *r);

#endif
