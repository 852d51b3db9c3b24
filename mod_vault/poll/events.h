/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file events.h
 * The events of a stream: JSON for vault.js, or HTML for clients that are not made for mod_vault, such as Turbo's
 * <turbo-stream-source> and htmx's sse-connect. docs/protocol.md describes both formats.
 *
 * A client of an HTML stream sends no acknowledgements, and an EventSource reconnects only after a response with status
 * 200. So:
 *   - Written answers count as acknowledged: the oldest one when a new answer needs its slot (poll_page.c),
 *     all of them when the stream has been quiet for a moment and the peer's TCP stack has acknowledged every
 *     byte. Until then the client may reconnect with the Last-Event-ID of any of them.
 *   - Where another client would get an error status, this one gets 200 with an event, or with the time after which it
 *     may reconnect.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_EVENTS_H
#define VAULT_EVENTS_H

#include "poll/poll_pages.h"
#include "poll/stream.h"

/** Begin the stream's events. @return 0: out of memory */
int vault_events_begin(vault_stream_t *stream, const vault_poll_pages_t *pages);

/** Write the events of each page that has updates or has ended.
 * @return 0: out of memory, updates were not written; end the stream, since later updates must not overtake them */
int vault_events_tell(vault_stream_t *stream, vault_poll_pages_t *pages, apr_pool_t *scratch);

/** In an HTML stream, count the written answers as acknowledged if the stream has been quiet for long enough.
 * @param deadline  when the stream is to send its next keep-alive comment
 * @return when to call this again, at the latest `deadline` */
apr_time_t vault_events_assume(request_rec *r, vault_poll_pages_t *pages, apr_time_t deadline);

/** Answer a poll for an HTML stream that cannot begin, since its page does not exist or a limit was reached.
 * @param why  the limit; NULL: the page
 * @return what the handler returns */
int vault_events_refuse(request_rec *r, vault_poll_pages_t *pages, const char *why);

#endif
