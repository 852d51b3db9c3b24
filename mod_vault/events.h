/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file events.h
 * What a stream tells its client of the pages: JSON for vault.js, or HTML for clients that know nothing of the module, such as Turbo's
 * <turbo-stream-source> and htmx's sse-connect. docs/protocol.md has both forms.
 *
 * A client of an HTML stream acknowledges nothing, and an EventSource comes again only after an answer with 200. So:
 *   - What was written counts as arrived: the oldest answer when a new one needs its place (seat.c), all of them when the stream has
 *     been quiet for a moment and the client's host has acknowledged every byte. Until then the client may come again with the
 *     Last-Event-ID of any of them.
 *   - What another client would be told by a status, this one is told by an event of an answer with 200, or by when to come again.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_EVENTS_H
#define VAULT_EVENTS_H

#include "seats.h"
#include "stream.h"

/** Begin to tell. @return 0 there is no memory */
int vault_events_begin(vault_stream_t *stream, const vault_seats_t *seats);

/** Tell how each page stands that has something to say.
 * @return 0 news could not be told, for want of memory: they must not be followed by others */
int vault_events_tell(vault_stream_t *stream, vault_seats_t *seats, apr_pool_t *scratch);

/** An HTML stream: what was written counts as arrived, if it was quiet for long enough.
 * @param deadline  when the stream is to show that it is alive
 * @return when to call this again, at the latest `deadline` */
apr_time_t vault_events_assume(request_rec *r, vault_seats_t *seats, apr_time_t deadline);

/** Answer a poll for an HTML stream that cannot begin: its page cannot be had, or a limit was reached.
 * @param why  the limit; NULL: the page
 * @return what the handler returns */
int vault_events_refuse(request_rec *r, vault_seats_t *seats, const char *why);

#endif
