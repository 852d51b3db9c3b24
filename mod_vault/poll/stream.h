/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file stream.h
 * The other way to answer a poll: server-sent events, one after the other, on a connection that waits in between.
 *
 * Nothing here waits for a client that reads slowly. What is to be sent lies in the stream until the socket takes it;
 * vault_stream_push() gives it as much as it takes now. Whoever has a stream with something left waits until the socket is writable,
 * and runs no method meanwhile, so that what lies here is never more than the events of one turn.
 *
 * A stream of HTTP/2 has a thread anyway, and no socket. There the events of one turn may be on their way to the client, 64 KB of them at
 * a time, while those of the next turn lie here.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_STREAM_H
#define VAULT_STREAM_H

#include "httpd.h"

typedef struct vault_stream_t vault_stream_t;

/** Begin the answer: its head, how long to wait before asking again, and a comment by which a client sees that nobody in between keeps
 * the answer back. In r->pool. */
vault_stream_t *vault_stream_begin(request_rec *r);

/** Add an event.
 * @param id    what the client sends as Last-Event-ID when it comes again; NULL: as before
 * @param data  one line; NULL does nothing
 * @return 1; 0 there is no memory for it, or `data` is NULL: nothing was added */
int vault_stream_event(vault_stream_t *s, const char *id, const char *data);

/** Add whole events as they are. @return as vault_stream_event() */
int vault_stream_text(vault_stream_t *s, const char *text);

/** Add what says no more than that the connection is alive. */
void vault_stream_beat(vault_stream_t *s);

/** Give the socket, or mod_http2, what it takes, without blocking.
 * @return APR_SUCCESS     all of it is taken
 *         APR_EAGAIN      not all of it now: wait until the socket is writable, or a moment
 *         APR_EBUSY       HTTP/2: the same, and nothing has been taken since the last push
 *         APR_ENOSPC      the client has too many bytes that wait to be written (unsent.h): what it has not got it asks for again
 *         others          the client is gone */
apr_status_t vault_stream_push(vault_stream_t *s);

#endif
