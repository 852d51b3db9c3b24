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

/** The client of a request for the table of clients (client_table.h): its user within this virtual host and
 * realm or, without a user, its address. Call it after authentication. */
vault_client_id_t vault_client_of(request_rec *r);

/** The address of the client, or its network, as the table of clients knows it; also if it has a user. */
vault_client_id_t vault_client_address(request_rec *r);

/** The client in words: the user name or the address. For IPv6 it is the network, since one customer has at
 * least 2^64 addresses.
 * @param top  the main request */
const char *vault_client_name(request_rec *top, apr_pool_t *pool);

/** The limit of its client that prevents a new page, or a state of so many bytes. For the log, after a refusal.
 * @return the directive and its value, in the request's pool; NULL: no limit has been reached */
const char *vault_client_limit(request_rec *r, apr_size_t bytes);

#endif
