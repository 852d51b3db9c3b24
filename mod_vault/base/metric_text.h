/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file metric_text.h
 * Names and labels in the syntax of OpenMetrics (https://prometheus.io/docs/specs/om/open_metrics_spec/).
 */
#ifndef VAULT_METRIC_TEXT_H
#define VAULT_METRIC_TEXT_H

#include "apr_pools.h"

/** The name of a metric: "vault", "PagesMax" -> "vault_pages_max". Characters that are neither letters nor
 * digits become `_`. */
const char *vault_metric_name(const char *prefix, const char *name, apr_pool_t *pool);

/** A text as the value of a label or as a help text: backslash, quote and line feed are escaped.
 * @param text  UTF-8 */
const char *vault_metric_label(const char *text, apr_pool_t *pool);

#endif
