/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file unsent.h
 * Bytes of answers that wait until their clients read them, counted for each client over all children:
 * VaultMaxUnsentPerClient.
 *
 * httpd keeps an answer in memory until it is sent. Without this limit a client could fill the memory: it asks for
 * long answers on many connections and reads none of them. At the limit the module answers 503 with Retry-After, if
 * possible before the methods run.
 *
 * An answer counts for as long as a part of it is in the memory of the module. Short answers do not count: the kernel
 * takes them at once, or httpd keeps a few KB for a connection, which needs more than that itself.
 *
 * When a child dies, its slot is cleaned up, and with it the bytes that it has counted (client_table.h).
 *
 * Only the thread that owns the request may call a function, unless its comment says otherwise.
 */
#ifndef VAULT_UNSENT_H
#define VAULT_UNSENT_H

#include "httpd.h"

#include "shm/client_table.h"

/** The error that a client gets at its limit. */
#define VAULT_UNSENT_REFUSED "earlier answers wait for this client to read them"

/** What one answer has counted. Initialize it with zeros. */
typedef struct vault_unsent_t {
    vault_client_row_t row;
    apr_size_t amount;
} vault_unsent_t;

/** May methods run for this client? Three quarters of the limit are for new requests; the rest is for the answers of
 * methods that run already. Logs a 0. */
int vault_unsent_allows(request_rec *r, vault_client_id_t client);

/** Count an answer of this length for the client of `r`. It replaces what `u` has counted before. A client without
 * any other unsent answer may have one of any length.
 * @return 1; 0 the client would exceed its limit: nothing is counted, and the function has logged that */
int vault_unsent_take(vault_unsent_t *u, request_rec *r, apr_size_t length);

/** The answer has been sent, or never will be. Any thread. */
void vault_unsent_give(vault_unsent_t *u);

/** Count a text for the client of `r`, until the text is freed.
 * @return 1; 0 the client would exceed its limit: the text is not counted, and the function has logged that */
int vault_unsent_count(request_rec *r, char *text);

/** Reply with 200 and `text`, as vault_reply_text(), and count the text until it is sent. Reply with 503 if the
 * client would exceed its limit. Then the client asks again and gets the same updates. Not for a subrequest.
 * @return what the handler returns */
int vault_unsent_reply(request_rec *r, char *text);

#endif
