/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file feeds.h
 * The feeds that the configuration has loaded. feedcall.h calls their methods.
 */
#ifndef VAULT_FEEDS_H
#define VAULT_FEEDS_H

#include "httpd.h"

#include "mod_vault/vault.h"

/** A loaded feed. */
typedef struct vault_loaded_feed_t {
    const char *name, *path;    /**< const after load */
    const vault_feed_t *vtable; /**< const after load */
    void *self;                 /**< const after load: the feed's own */
    const char *broken;         /**< const after start: why it does not work in this child; NULL: it works */
} vault_loaded_feed_t;

/** Forget all feeds, before the configuration is read. */
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
/** Does the feed have the function `acked`? */
int vault_feeds_hears(const vault_loaded_feed_t *feed);

/** Does this feed exist, with this method? @return NULL, or a sentence */
const char *vault_feeds_check_method(const char *feed, const char *method, apr_pool_t *p);

/** Does this method change data? 0 if it does not exist. */
int vault_feeds_writes(const char *feed, const char *method);

/** Start every feed in this child. They stop with `pchild`. */
void vault_feeds_start(apr_pool_t *pchild, server_rec *s);

/** A browser has shown what a run of the feed has rendered: calls vault_feed_t::acked. May block; hold no lock. */
void vault_feeds_acked(const char *feed, const char *data);

#endif
