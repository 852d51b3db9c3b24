/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file answer.h
 * What a poll says of its pages, in JSON: for one page, for several, and as an event of a stream. docs/protocol.md has the forms.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_ANSWER_H
#define VAULT_ANSWER_H

#include "poll/poll_pages.h"

/** What a client is told that was refused at a limit: to try again after so many seconds. */
#define VAULT_RETRY_AFTER 5

/** Has the page something to say? */
int vault_answer_has(const vault_poll_page_t *page);

/** How the page stands, with the page's id: {page, seq, updates} or {page, status, …}.
 * @return JSON in one line, for vault_text_free(); NULL: there is no memory. The answer then fails, and is made again */
char *vault_answer_poll_page(vault_poll_page_t *page);

/** News as events of an HTML stream; the last has the number of the answer as its id.
 * @return for vault_text_free(); NULL: there is no memory */
char *vault_answer_events(vault_poll_page_t *page);

/** Count that the page is told how it stands. */
void vault_answer_tally(const vault_poll_page_t *page);

/** Answer a poll, of pages of which some have something to say.
 * @param several  it was asked in the form for several pages
 * @param text     gets JSON to be sent by vault_reply_text(), with 200: when the poll has given back its memory, since a client may be slow
 *                 to read. It is counted (unsent.h). NULL: there is nothing to send, no memory for it, or the client has too much
 * @return if there is no text: what the handler returns */
int vault_answer_pages(request_rec *r, const vault_poll_pages_t *pages, int several, char **text);

/** No news: time is up, or the child that held the poll stops. */
int vault_answer_nothing(request_rec *r);

/** The client is gone; the connection must not be used again. */
int vault_answer_gone(request_rec *r);

/** A limit was reached. */
int vault_answer_refused(request_rec *r, const char *why);

#endif
