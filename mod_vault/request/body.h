/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file body.h
 * Reads the request bodies sent to the module's own URLs. Clients that send slowly cannot occupy all threads of a
 * child.
 *
 * A thread that reads a body may block for httpd's Timeout at each byte. Most bodies arrive together with their
 * headers, and these functions read such a body without blocking. For the rest of a body a thread blocks only within
 * these limits:
 *   - At most half of the threads of a child wait for bodies.
 *   - At most half of that number wait for bodies of one client, over all children. If each child has one thread
 *     (prefork), at most a quarter of the children do.
 *   - A thread waits for 10 s at most, and one second longer for each 1,000 bytes received. Over HTTP/2 each single
 *     wait may last for Timeout.
 *
 * mod_reqtimeout limits the time for the whole site, but not the number of threads.
 */
#ifndef VAULT_BODY_H
#define VAULT_BODY_H

#include "httpd.h"

/** Read the body into `text`, NUL-terminated, in `pool`.
 * @param max  the longest body that is accepted, in bytes
 * @return OK, or the status to answer with:
 *         400  the body contains a NUL, or the client stopped before its end
 *         408  the client sends too slowly
 *         413  the body is longer than `max`
 *         503  too many threads wait for bodies already; Retry-After is set
 *         After 408, 413 and 503 httpd closes the connection. */
int vault_body_read(request_rec *r, char **text, apr_size_t max, apr_pool_t *pool);

/** Read the body to its end and discard it, so that the connection can serve its next request. If the client sends
 * too slowly, httpd closes the connection after the answer.
 * @return OK, or the status to answer with: the request has no valid body */
int vault_body_discard(request_rec *r);

#endif
