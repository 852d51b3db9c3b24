/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file qos_status.h
 * What the status page shows of the locations with VaultQosLimit, in each of its forms. Nothing where there are none.
 */
#ifndef VAULT_QOS_STATUS_H
#define VAULT_QOS_STATUS_H

#include <jansson.h>

#include "httpd.h"

/** A list of objects. */
json_t *vault_qos_status_json(apr_pool_t *pool);

/** Lines `Qos1Location: localhost:80 /app`. */
void vault_qos_status_auto(request_rec *r);

/** A table with its heading. */
void vault_qos_status_html(request_rec *r);

/** Families of metrics, a location a label. */
void vault_qos_status_metrics(request_rec *r);

#endif
