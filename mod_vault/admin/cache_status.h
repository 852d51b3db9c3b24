/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cache_status.h
 * The output store in each format of the status page: how often outputs were personal, by reason. The totals of the
 * store are rows of metrics_rows.h.
 */
#ifndef VAULT_CACHE_STATUS_H
#define VAULT_CACHE_STATUS_H

#include <jansson.h>

#include "httpd.h"

/** Why an output is personal, in plain words. NULL: it is not. @param reason  a vault_personal_t */
const char *vault_cache_status_meaning(unsigned reason);

/** An object with a number for each reason. */
json_t *vault_cache_status_json(void);

/** Lines `PersonalUser: 3`. */
void vault_cache_status_auto(request_rec *r);

/** A table of the reasons, and one of the outputs that are used most. */
void vault_cache_status_html(request_rec *r);

/** A family with the reason as a label. */
void vault_cache_status_metrics(request_rec *r);

#endif
