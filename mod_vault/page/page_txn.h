/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page_txn.h
 * A transaction over the state of a page: what its methods read and write, and the resulting state.
 *
 * A transaction starts from the committed state and runs some of the page's methods, one after the other. Each
 * method sees the committed state and its own writes, but not those of the others. A method that fails
 * contributes nothing, not even stamps, so it will run again. Rendering the page itself is a transaction with
 * one nameless method over an empty state.
 *
 * The stamp of an interest is captured when the interest is created, before its data is read (notifier.h), and
 * for each cursor separately: if two methods use one interest, each must see it move. A cursor is looked up
 * under its method, and then under the view, so that the first poll after the view continues from what the HTML
 * shows.
 *
 * A transaction belongs to one thread at a time.
 */
#ifndef VAULT_PAGE_TXN_H
#define VAULT_PAGE_TXN_H

#include "page/page.h"
#include "page/page_calls.h"

typedef struct vault_page_txn_t vault_page_txn_t;

/** Why a method fails that has got two results of one call, from which the page could not continue both. */
#define VAULT_TXN_SAME_CALL "the same call of a feed was made twice, at two positions in its data"

/** Begin a transaction.
 * @param base  borrowed; must outlive the transaction */
vault_page_txn_t *vault_page_txn_create(vault_pages_t *pages, const vault_page_t *page, const vault_state_t *base,
                                        apr_pool_t *pool);

/** Begin a partial transaction for an external call (page_calls.h). Its results are vault_page_txn_made(), not
 * vault_page_txn_state().
 * @param b  borrowed; must outlive the transaction */
vault_page_txn_t *vault_page_txn_create_call(vault_pages_t *pages, const vault_calls_t *calls,
                                             const vault_calls_base_t *b, apr_pool_t *pool);

/** The results of the current method, or of an external call, so far, for vault_page_txn_take(). A property is
 * written as "=value", or "" if it is removed. */
vault_state_t *vault_page_txn_made(const vault_page_txn_t *txn);

/** Merge results that others have made into the current method, as if it had made them itself: those of its external
 * calls, or those of an output that is used again (output_store.h).
 * @param made  in memory that lives as long as the transaction */
void vault_page_txn_take(vault_page_txn_t *txn, const vault_state_t *made);

/** May vault_page_txn_take() merge `made`?
 * @return 1; 0: it would make the method fail, since both have made the same call of a feed, and got to different
 *         positions in its data */
int vault_page_txn_may_take(const vault_page_txn_t *txn, const vault_state_t *made);

/** What the current method has done before a part of its output began. */
typedef struct vault_page_txn_outer_t {
    apr_array_header_t *deps, *cursors, *writes, *acks, *answers;
} vault_page_txn_outer_t;

/** A part of the output of the current method begins, whose results are to be known by themselves. */
void vault_page_txn_enter_part(vault_page_txn_t *txn, vault_page_txn_outer_t *outer);

/** The part ends: merge its results into those of the method.
 * @return the results of the part, as vault_page_txn_made() */
vault_state_t *vault_page_txn_leave_part(vault_page_txn_t *txn, const vault_page_txn_outer_t *outer);

/** Has the current method set or removed a property? */
int vault_page_txn_has_written(const vault_page_txn_t *txn);

/** The value that the current method has set for a cursor, or the committed one that it continues from; NULL: none. */
const char *vault_page_txn_position(const vault_page_txn_t *txn, const char *cursor);

/** The state that the transaction starts from. */
const vault_state_t *vault_page_txn_base(const vault_page_txn_t *txn);

/** Begin the method of this URL ("" for the view). */
void vault_page_txn_begin(vault_page_txn_t *txn, const char *url);

/** End the method.
 * @param ok  0: it failed, so discard what it did
 * @return 1: its results are part of the transaction; 0: they were discarded, since `ok` was 0 or
 *         vault_page_txn_fail() was called */
int vault_page_txn_end(vault_page_txn_t *txn, int ok);

/** End the method, which answered 401, 403 or a redirect. Discard its results, and do not run it again for 30 s;
 * each further refusal doubles that time, up to VAULT_REFUSAL_MOST.
 * @param status  300..499 */
void vault_page_txn_refuse(vault_page_txn_t *txn, unsigned status, apr_time_t now);

/** Has an answer to the page reported already that the current method is refused with this status? */
int vault_page_txn_is_refused(const vault_page_txn_t *txn, unsigned status);

/** Make the current method fail. The first reason is kept. */
void vault_page_txn_fail(vault_page_txn_t *txn, const char *reason);
/** The first reason why the current method failed; NULL: it did not. */
const char *vault_page_txn_failed(const vault_page_txn_t *txn);

/** Note for the status whether the output of the current method is that of another run, and if not, why it is for this
 * page alone. */
void vault_page_txn_share(vault_page_txn_t *txn, int shared, vault_personal_t personal);

/** Add a long-poll method to the page.
 * @return APR_SUCCESS, also if the page has it already; APR_ENOSPC the page has `max` methods */
apr_status_t vault_page_txn_add_method(vault_page_txn_t *txn, const char *url, int max);

/** Has the current method never succeeded for this page? */
int vault_page_txn_is_first(const vault_page_txn_t *txn);

/** Remove a method from the page. */
void vault_page_txn_remove_method(vault_page_txn_t *txn, const char *url);

/** Let the next transaction of the page begin with this method, and continue with those that follow it. */
void vault_page_txn_begin_with(vault_page_txn_t *txn, const char *url);

/** The URL of the current method; "": the view. */
const char *vault_page_txn_url(const vault_page_txn_t *txn);

/** The committed cursor of this name that the current method continues from; NULL: there is none. */
const vault_cursor_t *vault_page_txn_committed(const vault_page_txn_t *txn, const char *cursor);

/** Does the page have a cursor of this name? If so, the rows of the call are new ones; otherwise they are a
 * first view. */
int vault_page_txn_knows(const vault_page_txn_t *txn, const char *cursor);

/** An answer of vault_page_txn_create_interest(). */
typedef struct vault_txn_answer_t {
    const char *cursor;
    vault_interest_t interest;
    apr_uint64_t stamp; /* of the interest, at that moment */
    int moved;          /* what was answered */
} vault_txn_answer_t;

/** What create_interest() answers for an interest with this stamp. */
int vault_page_txn_has_moved(const vault_page_txn_t *txn, const char *cursor, vault_interest_t interest,
                             apr_uint64_t stamp);

/** The answers that the current method has got, of vault_txn_answer_t. */
const apr_array_header_t *vault_page_txn_answers(const vault_page_txn_t *txn);

/** Create an interest for `cursor`.
 * @return 0: the committed state has this cursor with a stamp as new as the interest's, so there is nothing to
 *         read; 1: read the data, or the page cannot hold the interest and the method has failed */
int vault_page_txn_create_interest(vault_page_txn_t *txn, const char *cursor, const char *interest);

/** Hold the interests of another holder for the page as well; nothing depends on them yet.
 * @return 1: the page holds them, and they are still the same interests; 0: it does not hold all of them */
int vault_page_txn_hold_deps(vault_page_txn_t *txn, const vault_dep_t *deps, unsigned count);

/** The pool that lives as long as the transaction. */
apr_pool_t *vault_page_txn_pool(const vault_page_txn_t *txn);

/** Carry over the acknowledgements to report from the base, which no browser has acknowledged yet: a browser
 * that shows the new state has shown the base, too. */
void vault_page_txn_carry_acks(vault_page_txn_t *txn);

/** Set the stamps that were read before the transaction began, for vault_page_txn_learn_interest().
 * @param seen  of vault_dep_t; borrowed; must outlive the transaction */
void vault_page_txn_saw(vault_page_txn_t *txn, const apr_array_header_t *seen);

/** Set the stamps of interests that another holder holds since before the current method reads its data, until it ends:
 * for vault_page_txn_learn_interest().
 * @param held  of vault_dep_t; borrowed until the method ends */
void vault_page_txn_expect(vault_page_txn_t *txn, const apr_array_header_t *held);

/** Let the current method wait for `interest`, which it names only after it has read its data. It gets the stamp of
 * vault_page_txn_expect(), else that of vault_page_txn_saw(). If the interest is in neither, it counts as never seen,
 * so the method runs once more and no notify in between is lost. The method fails if the page cannot hold the interest.
 * @return 1: it has the stamp of vault_page_txn_expect() */
int vault_page_txn_learn_interest(vault_page_txn_t *txn, const char *interest);

/** Does the current method wait for `interest` so far? */
int vault_page_txn_waits_for(vault_page_txn_t *txn, const char *interest);

/** The current method no longer waits for `interest`. */
void vault_page_txn_remove_interest(vault_page_txn_t *txn, const char *interest);

/** The committed value of a cursor, NULL if there is none. */
const char *vault_page_txn_cursor(const vault_page_txn_t *txn, const char *cursor);
/** @return APR_SUCCESS; APR_EINVAL too long: the method has failed */
apr_status_t vault_page_txn_set_cursor(vault_page_txn_t *txn, const char *cursor, const char *value);

/** A property, with the writes of the current method. */
const char *vault_page_txn_get(const vault_page_txn_t *txn, const char *key);
/** @return APR_SUCCESS; APR_EINVAL key empty or too long, or value too long */
apr_status_t vault_page_txn_set(vault_page_txn_t *txn, const char *key, const char *value);

/** Report `data` to the feed when the browser has acknowledged the output of the current method.
 * @return APR_SUCCESS, also if it is recorded already; APR_EINVAL too long, APR_ENOSPC VAULT_ACKS_MAX reached:
 *         the method has failed */
apr_status_t vault_page_txn_on_ack(vault_page_txn_t *txn, const char *feed, const char *data);

/** The base with the results of the methods so far, to be committed or staged. In the pool of the transaction. */
vault_state_t *vault_page_txn_state(vault_page_txn_t *txn);

#endif
