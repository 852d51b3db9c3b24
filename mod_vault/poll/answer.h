/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file answer.h
 * The answer to a poll in JSON: for one page, for several pages, and as an event of a stream. docs/protocol.md
 * describes the formats.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_ANSWER_H
#define VAULT_ANSWER_H

#include "poll/poll_pages.h"

/** A client that was refused at a limit is told to try again after so many seconds. */
#define VAULT_RETRY_AFTER 5

/** Has the page something to answer: updates, or an end? */
int vault_answer_has(const vault_poll_page_t *page);

/** The status of a page with its id: {page, seq, updates} or {page, status, …}.
 * @return one line of JSON, for vault_text_free(); NULL: out of memory. The answer then fails, and the next
 *         poll gets it again */
char *vault_answer_poll_page(vault_poll_page_t *page);

/** The updates as events of an HTML stream. The last event has the number of the answer as its id.
 * @return for vault_text_free(); NULL: out of memory */
char *vault_answer_events(vault_poll_page_t *page);

/** Count the answer that this page gets. */
void vault_answer_tally(const vault_poll_page_t *page);

/** Answer a poll if at least one of its pages has something to answer.
 * @param several  the poll used the form for several pages
 * @param text     receives JSON for vault_reply_text() with status 200. The caller sends it after the poll's
 *                 memory has been freed, since a client may read slowly. It is counted as unsent (unsent.h).
 *                 NULL: the status is the answer, out of memory, or the client has too many unsent answers
 * @return if there is no text: what the handler returns */
int vault_answer_pages(request_rec *r, const vault_poll_pages_t *pages, int several, char **text);

/** Answer that nothing is new: the time is up, or the child that held the poll stops. */
int vault_answer_nothing(request_rec *r);

/** The client has disconnected; the connection must not be used again. */
int vault_answer_gone(request_rec *r);

/** Answer that a limit was reached. */
int vault_answer_refused(request_rec *r, const char *why);

#endif
