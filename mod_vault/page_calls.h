/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page_calls.h
 * Calls of feeds from outside of a run's own request: by the application that renders one of the page's methods, or
 * the page itself, in a process of its own.
 *
 * The run's request opens the run before it asks the application, tells it the number, and closes the run when the
 * application has answered. A call from outside names page and number. It reads what the run began from, holds its
 * interests for the page, and adds what it has made: the run takes that when it closes, so it counts if and only if
 * the run does.
 *
 * Whoever makes the run's round void closes the run as well: what was added is dropped, and a call that comes later
 * is told.
 *
 * Threads: any of any process; only the run's own opens and closes it.
 */
#ifndef VAULT_PAGE_CALLS_H
#define VAULT_PAGE_CALLS_H

#include "page.h"

/** Names an open run. */
typedef struct vault_calls_t {
    vault_page_t page;
    apr_uint64_t run; /* never used again on this page */
    apr_uint64_t key; /* names the key that its location has (feed_key.h): a call by another one is not let in */
} vault_calls_t;

/** What a call begins from. */
typedef struct vault_calls_base_t {
    vault_state_t *base;      /* as the run has it; of the page's view: empty */
    vault_state_t *made;      /* what calls of the run have added so far; NULL: nothing */
    const char *url;          /* of the method; "": the page's view */
    const char *user;         /* whose page it is; NULL: anybody's */
    vault_client_id_t client; /* who is charged for it */
} vault_calls_base_t;

/** Open a run of the poll that has the ticket. What was open on the page is closed.
 * @param calls   `key` is given, the rest is filled in
 * @param method  its place in the state that was looked at with the ticket
 * @return APR_SUCCESS; APR_NOTFOUND the page is gone; APR_ECONNABORTED a newer poll has it, or it was written to: the
 *         round is void */
apr_status_t vault_page_calls_open(vault_pages_t *p, vault_calls_t *calls, const vault_ticket_t *ticket, int method);

/** The same for the view of a page that is not published yet. */
apr_status_t vault_page_calls_open_view(vault_pages_t *p, vault_calls_t *calls, const vault_page_t *page);

/** Close the run.
 * @param made  gets what the calls have added, in `pool`; NULL: nothing
 * @return APR_SUCCESS; APR_EGENERAL a call failed, so the run must not count; APR_ECONNABORTED, APR_NOTFOUND: others
 *         have closed it, so its round is void */
apr_status_t vault_page_calls_close(vault_pages_t *p, const vault_calls_t *calls, vault_state_t **made,
                                    apr_pool_t *pool);

/** Read what a call begins from.
 * @return APR_SUCCESS; APR_NOTFOUND there is no such page; APR_ECONNABORTED the run is not open; APR_EGENERAL what is
 *         stored is no state */
apr_status_t vault_page_calls_read(vault_pages_t *p, const vault_calls_t *calls, vault_calls_base_t *b,
                                   apr_pool_t *pool);

/** As vault_page_hold(), for a call. @return also APR_ECONNABORTED: the run is not open, nothing is held */
apr_status_t vault_page_calls_hold(vault_pages_t *p, const vault_calls_t *calls, const char *name,
                                   vault_interest_t *interest, apr_uint64_t *stamp);

/** A call failed: the run must not count. @return as vault_page_calls_read() */
apr_status_t vault_page_calls_fail(vault_pages_t *p, const vault_calls_t *calls);

/** Add what a call has made, whole or not at all.
 * @param made  one method with what it waits for, cursors of its scope, acks, and properties as vault_run_made()
 *         writes them
 * @return APR_SUCCESS; APR_EEXIST a call of the run has one of the cursors already; APR_ENOSPC no room, or too many
 *         acks; else as vault_page_calls_read() */
apr_status_t vault_page_calls_add(vault_pages_t *p, const vault_calls_t *calls, const vault_state_t *made,
                                  apr_pool_t *pool);

#endif
