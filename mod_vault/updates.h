/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file updates.h
 * What methods wrote, as the browser gets it.
 */
#ifndef VAULT_UPDATES_H
#define VAULT_UPDATES_H

#include "apr_tables.h"

#include "json_text.h"

/** Write an array of {method, type, body, format?}.
 * @param outputs  of vault_output_t (method.h); all its text is UTF-8 */
void vault_updates_write(vault_json_text_t *t, const apr_array_header_t *outputs);

#endif
