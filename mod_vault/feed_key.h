/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file feed_key.h
 * The key by which an application may call feeds from server to server: VaultFeedKeyFile.
 *
 * The application sends `Authorization: Bearer KEY` and, for the page that it renders just now, the `Vault-Page` that
 * httpd has told it, as it is. `Vault-Page` is taken out of what all other requests say (own_page.h).
 */
#ifndef VAULT_FEED_KEY_H
#define VAULT_FEED_KEY_H

#include "httpd.h"
#include "http_config.h"

#include "page_calls.h"

/** A key, as the directive has read it. */
typedef struct vault_feed_key_t {
    const char *text; /* NULL: Off */
    apr_size_t length;
    apr_uint64_t id; /* names it, tells nothing of it; never 0 */
} vault_feed_key_t;

/** `VaultFeedKeyFile PATH | Off`: read the file. @return NULL, or the sentence that stops the start */
const char *vault_feed_key_set(cmd_parms *cmd, void *dir, const char *path);

/** The key of the virtual host of `r`; NULL: it has none. */
const vault_feed_key_t *vault_feed_key_of(const request_rec *r);

/** What a request says by its key. */
typedef enum vault_feed_caller_t {
    VAULT_FEED_CALLER_ANY,    /* nothing: a browser's, as today */
    VAULT_FEED_CALLER_WRONG,  /* a key that does not count here */
    VAULT_FEED_CALLER_TRUSTED /* the key */
} vault_feed_caller_t;

/** Who calls? After authentication: a token by which another module has logged a user in is none of ours. */
vault_feed_caller_t vault_feed_caller(request_rec *r);

/** Before `Vault-Page` is taken out of the request: keep it for vault_feed_caller_page(), if a key comes with it. */
void vault_feed_key_keep_page(request_rec *r);

/** The `Vault-Page` that came with the key; NULL: none. */
const char *vault_feed_caller_page(request_rec *r);

/** Read `ID;run=N`, as an application is told it.
 * @param calls  page and run are filled in; run 0: the page alone was named
 * @return 0: it is not of that form */
int vault_feed_key_parse(vault_calls_t *calls, const char *text);

/** Write it. */
const char *vault_feed_key_format(const vault_calls_t *calls, apr_pool_t *pool);

#endif
