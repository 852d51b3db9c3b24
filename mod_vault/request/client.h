/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file client.h
 * The client of a request, as the table of clients counts it (client_table.h).
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_CLIENT_H
#define VAULT_CLIENT_H

#include "httpd.h"

#include "shm/client_table.h"

/** Who asks, for the table of clients (client_table.h): the user of this virtual host and realm
 * or, without one, the address. After authentication. */
vault_client_id_t vault_client_of(request_rec *r);

/** Who that is, in words: the user, or the address; of IPv6 the network, of which one customer has at least 2^64 addresses.
 * @param top  the main request */
const char *vault_client_name(request_rec *top, apr_pool_t *pool);

/** Which limit its client has reached, for a page to be made or for so many bytes: for the log, after a refusal.
 * @return the directive and its value, in the request's pool; NULL: none */
const char *vault_client_limit(request_rec *r, apr_size_t bytes);

#endif
