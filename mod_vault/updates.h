/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file updates.h
 * What methods wrote, as the browser gets it.
 */
#ifndef VAULT_UPDATES_H
#define VAULT_UPDATES_H

#include <jansson.h>

#include "apr_tables.h"

/** @param outputs  of vault_output_t (method.h)
 * @return an array of {method, type, body, format?}; NULL: one of them cannot be JSON */
json_t *vault_updates_list(const apr_array_header_t *outputs);

/** Answer `seq` of a page: {seq, updates}. NULL as above: the answer then fails, and is made again. */
json_t *vault_updates_answer(apr_uint64_t seq, const apr_array_header_t *outputs);

#endif
