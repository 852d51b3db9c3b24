/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file metrics.h
 * Metrics for other programs: OpenMetrics text, which Prometheus reads, and a section on the page of
 * mod_status.
 */
#ifndef VAULT_METRICS_H
#define VAULT_METRICS_H

#include "httpd.h"

/** Write OpenMetrics 1.0. @return what the handler returns */
int vault_metrics_write(request_rec *r);

/** Register the section on the page of mod_status, if that is loaded. */
void vault_metrics_hooks(void);

#endif
