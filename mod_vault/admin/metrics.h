/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file metrics.h
 * The figures for others that collect: OpenMetrics text, which Prometheus reads, and a part of mod_status's page.
 */
#ifndef VAULT_METRICS_H
#define VAULT_METRICS_H

#include "httpd.h"

/** Write OpenMetrics 1.0. @return what the handler returns */
int vault_metrics_write(request_rec *r);

/** Register the part of mod_status's page, where mod_status is loaded. */
void vault_metrics_hooks(void);

#endif
