/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file unsent.h
 * Bytes of answers that wait until their clients read them, counted for each client over all children: VaultMaxUnsentPerClient.
 *
 * A client that asks for much on many connections and reads none of it would otherwise fill the memory, since httpd keeps an answer until it
 * is sent. What a client has in excess is refused with 503 and Retry-After, before the methods run where that can be known.
 *
 * Counted is an answer as long as a part of it is in the memory of the module. Short ones are not: the kernel takes them at once, or httpd keeps
 * a few KB for a connection, which takes more itself.
 *
 * What a child that dies has counted is taken away with its slot (client_table.h).
 *
 * Thread: the one that owns the request, except where it says any.
 */
#ifndef VAULT_UNSENT_H
#define VAULT_UNSENT_H

#include "httpd.h"

#include "client_table.h"

/** What a client is told that has too many. */
#define VAULT_UNSENT_REFUSED "earlier answers wait for this client to read them"

/** What one owner has counted; begins with zeros. */
typedef struct vault_unsent_t {
    vault_client_row_t row;
    apr_size_t amount;
} vault_unsent_t;

/** May methods run for this client, whose answer would have to be written? If not, the log has been told. */
int vault_unsent_allows(request_rec *r, vault_client_id_t client);

/** Count an answer of this length for the client of `r`, in place of what was counted. A client that has nothing else may have an answer of any
 * length.
 * @return 0 it would have more than it may: nothing is counted, the log has been told */
int vault_unsent_take(vault_unsent_t *u, request_rec *r, apr_size_t length);

/** It is sent, or will not be. Any thread. */
void vault_unsent_give(vault_unsent_t *u);

/** Count a text for the client of `r`, until it is freed.
 * @return 0 the client would have more than it may: it is not counted, the log has been told */
int vault_unsent_count(request_rec *r, char *text);

/** As vault_reply_text(), with 200; counted until it is sent. 503 if the client has too much: then it asks again, and is told what it has not
 * got. Not for a subrequest.
 * @return what the handler returns */
int vault_unsent_reply(request_rec *r, char *text);

#endif
