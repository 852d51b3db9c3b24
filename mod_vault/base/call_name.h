/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file call_name.h
 * What names a call of a feed on a page, whose cursor stands under this name.
 */
#ifndef CALL_NAME_H
#define CALL_NAME_H

#include <jansson.h>

#include "apr_pools.h"

/** FEED/METHOD and the arguments in JSON, sorted: the same arguments in whatever order are the same call. In `pool`.
 *
 * A page made before a graceful restart has it from the module before: it must not change. */
const char *vault_call_name(const char *feed, const char *method, const json_t *args, apr_pool_t *pool);

#endif
