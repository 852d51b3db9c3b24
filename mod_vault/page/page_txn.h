/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page_txn.h
 * One round over a page: what its methods read and write, and the state that comes out of it.
 *
 * A round starts from the committed state and runs some of the page's methods, one after the other. Each method sees the
 * committed state and its own writes, not those of the others; a method that failed contributes nothing at all, not even stamps,
 * so it runs again. The rendering of the page itself is a round with one nameless method over an empty state.
 *
 * The stamp of an interest is captured when it is created, before its data are read (notifier.h), and for each cursor apart:
 * two methods on one interest must each see it move. A cursor is looked up under its method, then under the page view, so that
 * the first round after the view finds what the HTML already shows.
 *
 * A round belongs to one thread at a time and is not shared.
 */
#ifndef VAULT_PAGE_TXN_H
#define VAULT_PAGE_TXN_H

#include "page/page.h"
#include "page/page_calls.h"

typedef struct vault_page_txn_t vault_page_txn_t;

/** Begin a round for a page.
 * @param base  borrowed; must outlive the run */
vault_page_txn_t *vault_page_txn_create(vault_pages_t *pages, const vault_page_t *page, const vault_state_t *base,
                                        apr_pool_t *pool);

/** Begin a part of a run for an external call (page_calls.h): its results are vault_page_txn_made(), not vault_page_txn_state().
 * @param b  borrowed, as `base` above */
vault_page_txn_t *vault_page_txn_create_call(vault_pages_t *pages, const vault_calls_t *calls,
                                             const vault_calls_base_t *b, apr_pool_t *pool);

/** The results of an external call so far, for vault_page_calls_add(). A property is written as "=value", or "" if it
 * is removed. */
vault_state_t *vault_page_txn_made(const vault_page_txn_t *txn);

/** Take over the results of external calls into the current method, as if it had made the calls itself.
 * @param made  in memory that lives as long as the run */
void vault_page_txn_take(vault_page_txn_t *txn, const vault_state_t *made);

/** The state that the round starts from. */
const vault_state_t *vault_page_txn_base(const vault_page_txn_t *txn);

/** Begin the method of that URL ("" for the page view). */
void vault_page_txn_begin(vault_page_txn_t *txn, const char *url);

/** The method is over.
 * @param ok  0: it failed, forget what it did
 * @return 1  what it did counts
 *         0  it does not: `ok` was 0, or something inside failed (vault_page_txn_fail) */
int vault_page_txn_end(vault_page_txn_t *txn, int ok);

/** End the method, which answered 401, 403 or a redirect: discard its changes, and do not run it again for 30 s,
 * after each further refusal twice as long, up to VAULT_REFUSAL_MOST.
 * @param status  300..499 */
void vault_page_txn_refuse(vault_page_txn_t *txn, unsigned status, apr_time_t now);

/** Has an answer to the page reported already that the current method is refused with this status? */
int vault_page_txn_is_refused(const vault_page_txn_t *txn, unsigned status);

/** The current method cannot succeed any more. The first reason is kept. */
void vault_page_txn_fail(vault_page_txn_t *txn, const char *reason);
/** The first reason why the current method failed; NULL: it did not. */
const char *vault_page_txn_failed(const vault_page_txn_t *txn);

/** Add a long-poll method to the page.
 * @return APR_SUCCESS, also when it is there already; APR_ENOSPC with `max` methods on the page */
apr_status_t vault_page_txn_add_method(vault_page_txn_t *txn, const char *url, int max);

/** Has the current method never counted for this page? */
int vault_page_txn_is_first(const vault_page_txn_t *txn);

/** Take it away again: it is no method of the page. */
void vault_page_txn_remove_method(vault_page_txn_t *txn, const char *url);

/** Let the next round begin with this method, and go on with those that follow it. */
void vault_page_txn_begin_with(vault_page_txn_t *txn, const char *url);

/** Does the page have a cursor of this name? If so, the call's rows are new ones; if not, they are a first view. */
int vault_page_txn_knows(const vault_page_txn_t *txn, const char *cursor);

/** Create an interest for the page, for `cursor`.
 * @return 0 the committed state holds this cursor with a stamp as new as the interest's; 1 otherwise, also when it could not be
 *         kept (then the method has failed) */
int vault_page_txn_create_interest(vault_page_txn_t *txn, const char *cursor, const char *interest);

/** Nobody has acknowledged the base yet, so its acks have not been told: whoever has what this round renders has the base, too. */
void vault_page_txn_carry_acks(vault_page_txn_t *txn);

/** Stamps that were read before the round began: what an interest learnt late may be compared with.
 * @param seen  of vault_dep_t; borrowed; must outlive the run */
void vault_page_txn_saw(vault_page_txn_t *txn, const apr_array_header_t *seen);

/** The current method waits for `interest`, as it says when it has read its data. Unless the round has seen the interest before, it
 * counts as never seen, so the method runs once more: what was notified in between is not lost. A name that cannot be kept fails the
 * method. */
void vault_page_txn_learn_interest(vault_page_txn_t *txn, const char *interest);

/** Does the current method wait for it, so far? */
int vault_page_txn_waits_for(vault_page_txn_t *txn, const char *interest);

/** The current method no longer waits for `interest`. */
void vault_page_txn_remove_interest(vault_page_txn_t *txn, const char *interest);

/** The committed value of a cursor, NULL if there is none. */
const char *vault_page_txn_cursor(const vault_page_txn_t *txn, const char *cursor);
/** @return APR_SUCCESS; APR_EINVAL too long: the method has failed */
apr_status_t vault_page_txn_set_cursor(vault_page_txn_t *txn, const char *cursor, const char *value);

/** A property as the current method sees it. */
const char *vault_page_txn_get(const vault_page_txn_t *txn, const char *key);
/** @return APR_SUCCESS; APR_EINVAL key empty or too long, or value too long */
apr_status_t vault_page_txn_set(vault_page_txn_t *txn, const char *key, const char *value);

/** Tell the feed `data` once the browser has what the current method renders.
 * @return APR_SUCCESS, also when that is kept already; APR_EINVAL too long, APR_ENOSPC VAULT_ACKS_MAX: the method has failed */
apr_status_t vault_page_txn_on_ack(vault_page_txn_t *txn, const char *feed, const char *data);

/** What the methods so far have made of the base: to be committed or staged. In the run's pool. */
vault_state_t *vault_page_txn_state(vault_page_txn_t *txn);

#endif
