/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cache_conf.h
 * The directives on cached responses.
 */
#ifndef VAULT_CACHE_CONF_H
#define VAULT_CACHE_CONF_H

#include "ap_expr.h"

#include "server/conf.h"

/** The values of these directives in a section. */
typedef struct vault_cache_conf_t {
    int on;              /* VaultCache; -1: not set */
    int stale;           /* VaultCacheStale, seconds; -1: not set, as 0 */
    ap_expr_info_t *key; /* VaultCacheKey; NULL: not set */
} vault_cache_conf_t;

extern const vault_conf_t vault_cache_conf;
extern const command_rec vault_cache_directives[];

/** The values for `r`; NULL: httpd has not merged the sections of the request yet. */
const vault_cache_conf_t *vault_cache_conf_of(const request_rec *r);

/** VaultCacheStale, 0 by default. */
apr_interval_time_t vault_cache_conf_stale(const request_rec *r);

/** Evaluate VaultCacheKey. @return in the request's pool; "": there is none; NULL: it fails, which was logged */
const char *vault_cache_conf_varies(request_rec *r);

/** Is VaultCache On for `r`? */
int vault_cache_conf_is_on(const request_rec *r);

/** Is nothing kept for `r`? */
int vault_cache_conf_is_off(const request_rec *r);

/** Is VaultCache not set for `r`? Then outputs are kept that are shared by construction: methods, and views of live
 * pages. */
int vault_cache_conf_is_unset(const request_rec *r);

#endif
