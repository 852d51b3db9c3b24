/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file feedcall.h
 * Calls a method of a feed, and is the host of the feed during the call.
 */
#ifndef VAULT_FEEDCALL_H
#define VAULT_FEEDCALL_H

#include <jansson.h>

#include "httpd.h"

#include "mod_vault/vault.h"

/** The host that feeds receive when they are opened. */
extern const vault_host_t vault_feedcall_host;

/** Call a method on behalf of `r`, which may be a view, a method of a page, or neither. Within one method of a
 * page, repeated reading calls return the same rows, so that two parts of a page never differ.
 * Parameters and result as for vault_feed_call() in vault.h. If `r` is NULL, the call is not part of a request:
 * `pool` is needed then, and no interest is recorded. */
apr_status_t vault_feedcall_run(request_rec *r, const char *feed, const char *method, const json_t *args, json_t **rows,
                                const char **error, apr_pool_t *pool);

/** Do these rows, from a call for the page of `r`, replace what the page shows (vault_host_t::reset)? */
int vault_feedcall_is_reset(request_rec *r, const json_t *rows);

/** Set `name` in `args` to `value`. Dots in the name make nested objects.
 * @return APR_SUCCESS; APR_EEXIST the name is set already; APR_EINVAL a name or a part of it is empty, it has
 *         more than 8 dots, a part of it is a value elsewhere, or it is not UTF-8 */
apr_status_t vault_feedcall_argument(json_t *args, const char *name, const char *value);

#endif
