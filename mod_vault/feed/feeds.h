/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file feeds.h
 * The feeds that the configuration has loaded. Their methods are called in feedcall.h.
 */
#ifndef VAULT_FEEDS_H
#define VAULT_FEEDS_H

#include "httpd.h"

#include "mod_vault/vault.h"

/** One of them. */
typedef struct vault_loaded_feed_t {
    const char *name;           /**< const after load */
    const vault_feed_t *vtable; /**< const after load */
    void *self;                 /**< const after load: the feed's own */
    const char *broken;         /**< const after start: why it does not work in this child; NULL: it does */
} vault_loaded_feed_t;

/** Forget all feeds: before each reading of the configuration. */
void vault_feeds_reset(apr_pool_t *pconf);

/** `VaultFeed`: load the shared object, check ABI and parameters, open it.
 * @return NULL, or the sentence that stops the start */
const char *vault_feeds_load(const char *name, const char *path, const apr_table_t *params, apr_pool_t *pconf);

/** @return NULL: there is none */
const vault_loaded_feed_t *vault_feeds_find(const char *name);
/** @return NULL: the feed has none */
const vault_feed_method_t *vault_feeds_find_method(const vault_loaded_feed_t *feed, const char *name);
/** All of them, in any order. @return of const vault_loaded_feed_t *, in `pool` */
apr_array_header_t *vault_feeds_all(apr_pool_t *pool);
/** Is it told that a browser has what it showed? */
int vault_feeds_hears(const vault_loaded_feed_t *feed);

/** Is there such a feed with such a method? @return NULL, or a sentence */
const char *vault_feeds_check_method(const char *feed, const char *method, apr_pool_t *p);

/** Does this method change data? 0 also when there is none. */
int vault_feeds_writes(const char *feed, const char *method);

/** Start every feed in this child; they stop with `pchild`. */
void vault_feeds_start(apr_pool_t *pchild, server_rec *s);

/** A browser has what a run of the feed rendered: vault_feed_t::acked. May block; hold no lock. */
void vault_feeds_acked(const char *feed, const char *data);

#endif
