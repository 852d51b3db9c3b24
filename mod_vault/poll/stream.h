/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file stream.h
 * Answers a poll by a stream of server-sent events. The connection waits between the events.
 *
 * No function here blocks for a client that reads slowly. Data stays in the stream until the socket takes it;
 * vault_stream_push() writes as much as it takes without blocking. While data is left, the poll waits until the
 * socket is writable and runs no method, so a stream never holds more than the events of one turn.
 *
 * A stream of HTTP/2 has a thread of its own, and no socket. There the events of one turn can be on their way
 * to the client, in parcels of 64 KB, while the stream holds those of the next turn.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_STREAM_H
#define VAULT_STREAM_H

#include "httpd.h"

typedef struct vault_stream_t vault_stream_t;

/** Begin the answer: the header, the reconnection delay, and a comment that shows the client that no proxy
 * buffers the response. In r->pool. */
vault_stream_t *vault_stream_begin(request_rec *r);

/** Add an event.
 * @param id    the client sends it as Last-Event-ID when it reconnects; NULL: unchanged
 * @param data  one line; NULL: add nothing
 * @return 1; 0: out of memory, or `data` is NULL: nothing was added */
int vault_stream_event(vault_stream_t *s, const char *id, const char *data);

/** Add complete events as they are. @return as vault_stream_event() */
int vault_stream_text(vault_stream_t *s, const char *text);

/** Add a comment that shows that the connection is alive. */
void vault_stream_beat(vault_stream_t *s);

/** Write as much as the socket, or mod_http2, takes without blocking.
 * @return APR_SUCCESS     everything has been taken
 *         APR_EAGAIN      not yet: wait until the socket is writable, or for a moment
 *         APR_EBUSY       HTTP/2: the same, and nothing has been taken since the last push
 *         APR_ENOSPC      the client has too many unsent bytes (unsent.h): it will ask again for what it has not got
 *         other values    the client has disconnected */
apr_status_t vault_stream_push(vault_stream_t *s);

#endif
