/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file feed_key.h
 * The key by which an application may call feeds from server to server: VaultFeedKeyFile.
 *
 * The application sends `Authorization: Bearer KEY` and, for the page that it is rendering, the unchanged `Vault-Page`
 * that httpd sent to it. httpd removes `Vault-Page` from all other requests (page_request.h).
 */
#ifndef VAULT_FEED_KEY_H
#define VAULT_FEED_KEY_H

#include "httpd.h"
#include "http_config.h"

#include "page/page_calls.h"

/** The key that the directive has read. */
typedef struct vault_feed_key_t {
    const char *text; /* NULL: Off */
    apr_size_t length;
    apr_uint64_t id; /* part of a hash of the key, to compare keys by; never 0 */
} vault_feed_key_t;

/** `VaultFeedKeyFile PATH | Off`: read the file, and set `key`. @return NULL, or the error message with which
 * httpd does not start */
const char *vault_feed_key_read(cmd_parms *cmd, const vault_feed_key_t **key, const char *path);

/** The key of the virtual host of `r`; NULL: none. */
const vault_feed_key_t *vault_feed_key_of(const request_rec *r);

/** The sender of a request, judged by its key. */
typedef enum vault_feed_caller_t {
    VAULT_FEED_CALLER_ANY,    /* no key, or another module's token: a browser */
    VAULT_FEED_CALLER_WRONG,  /* a key that is not accepted here */
    VAULT_FEED_CALLER_TRUSTED /* the right key */
} vault_feed_caller_t;

/** Judge the sender of a request. Call it after authentication: if another module has authenticated a user by a Bearer
 * token, that token is not a wrong key. */
vault_feed_caller_t vault_feed_caller(request_rec *r);

/** If the request has a key, store its `Vault-Page` for vault_feed_caller_page(). Call it before `Vault-Page` is
 * removed from the request. */
void vault_feed_key_keep_page(request_rec *r);

/** The `Vault-Page` of a request with a key; NULL: none. */
const char *vault_feed_caller_page(request_rec *r);

/** Parse `ID;run=N`, the value of `Vault-Page`.
 * @param calls  out: page and run; run 0: the text is an id without a run
 * @return 0: the text has another form */
int vault_feed_key_parse(vault_calls_t *calls, const char *text);

/** Format `ID;run=N`. */
const char *vault_feed_key_format(const vault_calls_t *calls, apr_pool_t *pool);

#endif
