/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file poll_pages.h
 * All the pages of one poll, and what they watch together. What is wrong with one of them is its page's alone (poll_page.h).
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_POLL_PAGES_H
#define VAULT_POLL_PAGES_H

#include "poll/poll_page.h"

typedef struct vault_poll_pages_t {
    vault_interest_set_t interests; /* what all of them depend on */
    int html;                       /* the poll asks for HTML (events.h); it has one page then */
    unsigned count;
    vault_poll_page_t *page; /* in the order in which they were asked for */
} vault_poll_pages_t;

/** Take the pages over for the poll `r`. */
void vault_poll_pages_take(vault_poll_pages_t *pages, request_rec *r, const vault_poll_request_t *q);

/** Is there a page of which this holds? */
int vault_poll_pages_any(const vault_poll_pages_t *pages, int (*is)(const vault_poll_page_t *page));

/** Look at the pages that there are still, and list what they depend on: nothing, if one of them has something to say.
 * @param scratch  as long as the turn */
void vault_poll_pages_read(vault_poll_pages_t *pages, apr_pool_t *scratch);

/** Arm the watch, and compare with what the pages have seen. The poll is attached, or could not be. */
void vault_poll_pages_compare(vault_poll_pages_t *pages, apr_pool_t *scratch);

/** Run what moved, as far as the answer has room (VaultMaxAnswer). Pages and methods for which it has none stay as they are: the next
 * poll, or the next turn of a stream, runs them before the others. */
void vault_poll_pages_run(vault_poll_pages_t *pages);

/** When some method that rests is to run again, if that is before `due`; else `due`. */
apr_time_t vault_poll_pages_due(const vault_poll_pages_t *pages, apr_time_t due);

/** When the poll is to end, so that refused methods are tried again by the next one (vault_poll_page_retry()), if that is
 * before `end`; else `end`. */
apr_time_t vault_poll_pages_retry(const vault_poll_pages_t *pages, apr_time_t end);

/** The poll was woken. Each page hears of it: whoever is notified rests no more. */
void vault_poll_pages_woken(vault_poll_pages_t *pages, unsigned causes);

/** The poll waits: rounds are no longer in sequence. */
void vault_poll_pages_wait(vault_poll_pages_t *pages);

/** The poll is a stream: its pages go on from its own answers. */
void vault_poll_pages_stream(const vault_poll_pages_t *pages);

/** The poll stays: its pages count as polled until then. */
void vault_poll_pages_stay(const vault_poll_pages_t *pages, apr_time_t until);

/** What a stream has told of all pages, as Last-Event-ID: their numbers, in the order in which they were asked for. An answer that is
 * staged and will be told by a later event is not in it, since that one may get lost. */
const char *vault_poll_pages_sent(const vault_poll_pages_t *pages, apr_pool_t *pool);

/** The poll is over. */
void vault_poll_pages_leave(const vault_poll_pages_t *pages);

#endif
