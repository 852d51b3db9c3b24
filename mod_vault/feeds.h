/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file feeds.h
 * The feeds that the configuration has loaded, and calls of their methods.
 */
#ifndef VAULT_FEEDS_H
#define VAULT_FEEDS_H

#include <jansson.h>

#include "httpd.h"

#include "vault.h"

/** Forget all feeds: before each reading of the configuration. */
void vault_feeds_reset(apr_pool_t *pconf);

/** `VaultFeed`: load the shared object, check ABI and parameters, open it.
 * @return NULL, or the sentence that stops the start */
const char *vault_feeds_load(const char *name, const char *path, const apr_table_t *params, apr_pool_t *pconf);

/** Is there such a feed with such a method? @return NULL, or a sentence */
const char *vault_feeds_check_method(const char *feed, const char *method, apr_pool_t *p);

/** Does this method change data? 0 also when there is none. */
int vault_feeds_writes(const char *feed, const char *method);

/** Start every feed in this child; they stop with `pchild`. */
void vault_feeds_start(apr_pool_t *pchild, server_rec *s);

/** Call a method for whatever `r` is: a view, a method's run, or neither. Within one method of a page the same reading call
 * gives the same rows, so that two places on a page cannot come to differ.
 * As vault_feed_call() in vault.h; `r` NULL: outside of a request, `pool` is then needed and no interest is kept. */
apr_status_t vault_feeds_call(request_rec *r, const char *feed, const char *method, const json_t *args, json_t **rows,
                              const char **error, apr_pool_t *pool);

/** Are these rows, of a call for the page of `r`, a first view again (vault_host_t::reset)? */
int vault_feeds_is_reset(request_rec *r, const json_t *rows);

/** A browser has what a run of the feed rendered: vault_feed_t::acked. May block; hold no lock. */
void vault_feeds_acked(const char *feed, const char *data);

/** Put `value` into `args` under `name`; dots in the name make nested objects.
 * @return APR_SUCCESS; APR_EEXIST it is there already; APR_EINVAL an empty name or part of a name, more than 8 dots, a name that is
 *         a value elsewhere, or not UTF-8 */
apr_status_t vault_feeds_argument(json_t *args, const char *name, const char *value);

#endif
