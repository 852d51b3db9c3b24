/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file poll_pages.h
 * All pages of one poll, and the interests that they wait for together. A problem with one page does not affect
 * the others (poll_page.h).
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_POLL_PAGES_H
#define VAULT_POLL_PAGES_H

#include "poll/poll_page.h"

typedef struct vault_poll_pages_t {
    vault_interest_set_t interests; /* the interests of all pages */
    int html;                       /* the poll asks for HTML (events.h); it has one page then */
    unsigned count;
    vault_poll_page_t *page; /* in the order of the request */
} vault_poll_pages_t;

/** Take over the pages for the poll `r`. */
void vault_poll_pages_take(vault_poll_pages_t *pages, request_rec *r, const vault_poll_request_t *q);

/** Does `is` hold for any of the pages? */
int vault_poll_pages_any(const vault_poll_pages_t *pages, int (*is)(const vault_poll_page_t *page));

/** Read the pages that the poll still has, and list their interests. If a page has something to answer already,
 * nothing is listed.
 * @param scratch  valid during this turn */
void vault_poll_pages_read(vault_poll_pages_t *pages, apr_pool_t *scratch);

/** Arm the interests, and compare them with the states that were read. The poll has been attached before, or
 * could not be. */
void vault_poll_pages_compare(vault_poll_pages_t *pages, apr_pool_t *scratch);

/** Run the methods that have moved, as long as the answer has room (VaultMaxAnswer). Pages and methods that do
 * not fit keep their state; the next poll, or the next turn of a stream, runs them first. */
void vault_poll_pages_run(vault_poll_pages_t *pages);

/** The earlier of `due` and the time when a delayed method is to run again. */
apr_time_t vault_poll_pages_due(const vault_poll_pages_t *pages, apr_time_t due);

/** The earlier of `end` and the time when the poll has to end so that the next one can try refused methods again
 * (vault_poll_page_retry()). */
apr_time_t vault_poll_pages_retry(const vault_poll_pages_t *pages, apr_time_t end);

/** The poll was woken. A notify ends the delays of failed methods. */
void vault_poll_pages_woken(vault_poll_pages_t *pages, unsigned causes);

/** The poll waits, which interrupts a sequence of rounds. */
void vault_poll_pages_wait(vault_poll_pages_t *pages);

/** Answer by a stream, which continues from its own answers. */
void vault_poll_pages_stream(const vault_poll_pages_t *pages);

/** The poll stays until then, so its pages count as polled until then. */
void vault_poll_pages_stay(const vault_poll_pages_t *pages, apr_time_t until);

/** The numbers of the last answers that a stream has sent, in the order of the request, as Last-Event-ID. It
 * does not include an answer that is staged for a later event, since that event may get lost. */
const char *vault_poll_pages_sent(const vault_poll_pages_t *pages, apr_pool_t *pool);

/** The poll has ended. */
void vault_poll_pages_leave(const vault_poll_pages_t *pages);

#endif
