/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page_calls.h
 * External calls: feed calls by an application process, for the page whose method or view that application is
 * rendering.
 *
 * A run is one execution of a method or of a view. The request that executes it opens the run before it forwards the
 * request to the application, passes the run's number on, and closes the run when the application has answered. An
 * external call names the page and that number. It reads the state from which the run began, holds its interests for
 * the page, and adds its results to the run. The run takes the results when it closes, so they take effect if and only
 * if the run does.
 *
 * Any operation that invalidates the run's round (a newer poll, a write to the page) also closes the run: the results
 * are dropped, and later external calls get an error.
 *
 * Threads: any thread of any process. Only the thread of the run's own request opens and closes the run.
 */
#ifndef VAULT_PAGE_CALLS_H
#define VAULT_PAGE_CALLS_H

#include "page/page.h"

/** Names an open run. */
typedef struct vault_calls_t {
    vault_page_t page;
    apr_uint64_t run; /* never used again on this page */
    apr_uint64_t key; /* id of the virtual host's key (feed_key.h); calls with another key are refused */
} vault_calls_t;

/** The state from which an external call begins. */
typedef struct vault_calls_base_t {
    vault_state_t *base;      /* the run's base state; empty for the page's view */
    vault_state_t *made;      /* results that the run's calls have added so far; NULL: none */
    const char *url;          /* of the method; "": the page's view */
    const char *user;         /* the page's owner; NULL: the page was made without a login */
    vault_client_id_t client; /* the client whose limits the call counts towards */
} vault_calls_base_t;

/** Open a run of a method for the poll that holds the ticket. A run that is still open on the page is closed.
 * @param calls   in: `key`; out: the other fields
 * @param method  index of the method in the state that was read with the ticket
 * @return APR_SUCCESS; APR_NOTFOUND the page does not exist; APR_ECONNABORTED a newer poll took it over, or a request
 *         wrote to it: the round is void */
apr_status_t vault_page_calls_open(vault_pages_t *p, vault_calls_t *calls, const vault_ticket_t *ticket, int method);

/** Open a run for the view of a page that is not published yet. */
apr_status_t vault_page_calls_open_view(vault_pages_t *p, vault_calls_t *calls, const vault_page_t *page);

/** Close the run.
 * @param made  out: the results that the calls have added, in `pool`; NULL: none
 * @return APR_SUCCESS; APR_EGENERAL a call failed, so the run must not take effect; APR_ECONNABORTED, APR_NOTFOUND:
 *         another operation has closed the run, so its round is void */
apr_status_t vault_page_calls_close(vault_pages_t *p, const vault_calls_t *calls, vault_state_t **made,
                                    apr_pool_t *pool);

/** Read the state from which an external call begins.
 * @return APR_SUCCESS; APR_NOTFOUND the page does not exist; APR_ECONNABORTED the run is not open; APR_EGENERAL the
 *         stored state is damaged */
apr_status_t vault_page_calls_read(vault_pages_t *p, const vault_calls_t *calls, vault_calls_base_t *b,
                                   apr_pool_t *pool);

/** As vault_page_hold(), for an external call. @return also APR_ECONNABORTED: the run is not open, nothing is held */
apr_status_t vault_page_calls_hold(vault_pages_t *p, const vault_calls_t *calls, const char *name,
                                   vault_interest_t *interest, apr_uint64_t *stamp);

/** Record that a call failed, so the run must not take effect. @return as vault_page_calls_read() */
apr_status_t vault_page_calls_fail(vault_pages_t *p, const vault_calls_t *calls);

/** Add the results of an external call to the run, all or none.
 * @param made  one method with its interests, cursors of its scope, acks, and properties as
 *              vault_page_txn_made() writes them
 * @return APR_SUCCESS; APR_EEXIST another call of the run has added one of the cursors already; APR_ENOSPC no room, or
 *         too many acks; else as vault_page_calls_read() */
apr_status_t vault_page_calls_add(vault_pages_t *p, const vault_calls_t *calls, const vault_state_t *made,
                                  apr_pool_t *pool);

#endif
