/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file body.h
 * Bodies of requests to the module's own URLs, read so that clients who send slowly cannot take all threads of a child.
 *
 * A thread that reads a body waits for its client, for up to Timeout at each byte. Here a body that has come already, as most come with their
 * headers, is read at once. A thread waits for the rest of one only while fewer than half of the threads of its child do so, and fewer than
 * half of that half for this client in all children; and 10 s at most, and a second more for each 1,000 bytes that have come. (Over HTTP/2 each wait may last for Timeout.) mod_reqtimeout does
 * this for the whole site, by time alone.
 */
#ifndef VAULT_BODY_H
#define VAULT_BODY_H

#include "httpd.h"

/** The body as text, in `pool`, NUL-terminated.
 * @param max  in bytes
 * @return OK, or the status to answer: 400 it has a NUL or broke off, 408 it came too slowly, 413 it is longer than `max`, 503 with
 *         Retry-After: too many come slowly. With 408, 413 and 503 httpd closes the connection after the answer */
int vault_body_read(request_rec *r, char **text, apr_size_t max, apr_pool_t *pool);

/** Read it to its end, for the next request of the connection; if it comes too slowly, let the connection end after the answer.
 * @return OK, or the status to answer: it is no body */
int vault_body_discard(request_rec *r);

#endif
