/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file feedcall.h
 * A call of a feed's method, and the host that the feed has meanwhile.
 */
#ifndef VAULT_FEEDCALL_H
#define VAULT_FEEDCALL_H

#include <jansson.h>

#include "httpd.h"

#include "mod_vault/vault.h"

/** What feeds are handed when they are opened. */
extern const vault_host_t vault_feedcall_host;

/** Call a method for whatever `r` is: a view, a method's run, or neither. Within one method of a page the same reading call
 * gives the same rows, so that two places on a page cannot come to differ.
 * As vault_feed_call() in vault.h; `r` NULL: outside of a request, `pool` is then needed and no interest is kept. */
apr_status_t vault_feedcall_run(request_rec *r, const char *feed, const char *method, const json_t *args, json_t **rows,
                                const char **error, apr_pool_t *pool);

/** Are these rows, of a call for the page of `r`, a first view again (vault_host_t::reset)? */
int vault_feedcall_is_reset(request_rec *r, const json_t *rows);

/** Put `value` into `args` under `name`; dots in the name make nested objects.
 * @return APR_SUCCESS; APR_EEXIST it is there already; APR_EINVAL an empty name or part of a name, more than 8 dots, a name that is
 *         a value elsewhere, or not UTF-8 */
apr_status_t vault_feedcall_argument(json_t *args, const char *name, const char *value);

#endif
