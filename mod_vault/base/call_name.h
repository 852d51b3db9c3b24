/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file call_name.h
 * The name of a feed call on a page. The page keeps the call's cursor under this name.
 */
#ifndef CALL_NAME_H
#define CALL_NAME_H

#include <jansson.h>

#include "apr_pools.h"

/** FEED/METHOD and the arguments as sorted JSON, so that the order of the arguments does not matter. In `pool`.
 *
 * The format must not change: after a graceful restart the new module reads the names that the old one has
 * stored in pages. */
const char *vault_call_name(const char *feed, const char *method, const json_t *args, apr_pool_t *pool);

#endif
