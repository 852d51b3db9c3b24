/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file poll_page.h
 * One page of a poll: the state that the poll has read, and the methods that it runs.
 *
 * A poll can ask for several pages (poll_pages.h). Each turn of the poll takes every page through these steps:
 *
 *   read     read the committed state; report its acknowledgements to feeds
 *   list     add the interests of the page to those of the poll
 *            (the dispatcher then attaches the poll and arms the interests)
 *   compare  has any interest moved since the state was read?
 *   run      run the methods whose interests have moved; stage the result if they wrote anything, otherwise commit it
 *
 * Each step sets the status of the page. A problem with one page does not affect the others.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_POLL_PAGE_H
#define VAULT_POLL_PAGE_H

#include "httpd.h"

#include "page/page.h"
#include "page/interest_set.h"
#include "poll/poll_request.h"
#include "poll/method_retry.h"
#include "poll/session_watch.h"

/** The result of the last step. */
typedef enum vault_poll_page_status_t {
    VAULT_POLL_PAGE_WAITS,      /* no interest has moved */
    VAULT_POLL_PAGE_MOVED,      /* run its methods; if `moved` is empty, read it again */
    VAULT_POLL_PAGE_OUTDATED,   /* its request names no session any more (session_watch.h): end the poll */
    VAULT_POLL_PAGE_AGAIN,      /* the methods wrote nothing, or the round is void: read it again */
    VAULT_POLL_PAGE_STAGED,     /* `updates` are staged as answer `seq` */
    VAULT_POLL_PAGE_GONE,       /* the page does not exist */
    VAULT_POLL_PAGE_FORBIDDEN,  /* it belongs to another user */
    VAULT_POLL_PAGE_UNKNOWN,    /* this server does not have it, and the store that may have it does not answer */
    VAULT_POLL_PAGE_SUPERSEDED, /* a newer poll has the page */
    VAULT_POLL_PAGE_FULL,       /* the page's state does not fit */
    VAULT_POLL_PAGE_CUT,        /* the client disconnected while the methods ran: the round is void */
    VAULT_POLL_PAGE_LEFT        /* a stream has sent the final event of this page, and continues without it */
} vault_poll_page_status_t;

typedef struct vault_poll_page_t {
    const char *id; /* as the client has sent it */
    vault_ticket_t ticket;
    vault_session_watch_t session;
    vault_method_retry_t retry;
    vault_busy_t busy;
    vault_poll_page_status_t status; /* the result of the last step */
    vault_state_t *base;       /* this turn: the committed state, or the head of a stream; NULL: not published yet */
    apr_array_header_t *moved; /* this turn: the URLs of the methods to run, of const char * */
    vault_updates_t updates;   /* this turn: the output of the methods */
    apr_uint64_t seq;          /* the answer staged last; before the first, the number that the client has sent */
    apr_uint64_t sent;         /* the answer that a stream has sent last; before the first, the client's number */
    int html;                  /* an HTML stream, whose client sends no acknowledgements (events.h) */
    apr_time_t sent_at; /* HTML stream: when it sent the last answer that is not assumed to have arrived; 0: none */
} vault_poll_page_t;

/** Take over the page for the poll `r`. The struct is zeroed, except for `html`. @return WAITS, GONE, FORBIDDEN,
 * UNKNOWN, FULL or SUPERSEDED */
vault_poll_page_status_t vault_poll_page_take(vault_poll_page_t *page, request_rec *r, const vault_asked_t *asked);

/** The status for an error of vault_store_find(), vault_page_take() or vault_page_acknowledge(). Logs what the
 * administrator should know. */
vault_poll_page_status_t vault_poll_page_take_status(request_rec *r, const vault_asked_t *asked, apr_status_t rv);

/** Read the page's state. @return WAITS until it is compared, GONE or SUPERSEDED
 * @param scratch  valid during this turn */
vault_poll_page_status_t vault_poll_page_read(vault_poll_page_t *page, apr_pool_t *scratch);

/** Compare the armed interests with the state. @return WAITS, MOVED, OUTDATED or SUPERSEDED */
vault_poll_page_status_t vault_poll_page_compare(vault_poll_page_t *page, const vault_interest_set_t *interests);

/** The earlier of `at` and the time when a refused method may be tried again. The poll ends then, because a
 * method runs with the credentials of its poll, and those of a waiting poll may be outdated. Call it after
 * vault_poll_page_read() in the same turn. */
apr_time_t vault_poll_page_retry(const vault_poll_page_t *page, apr_time_t at);

/** Run the methods in `moved`. @return AGAIN, STAGED, GONE, SUPERSEDED, FULL or CUT
 * @param budget  of the answer; a method whose output does not fit runs in the next round */
vault_poll_page_status_t vault_poll_page_run(vault_poll_page_t *page, const vault_interest_set_t *interests,
                                             vault_answer_budget_t *budget);

/** Answer this page by a stream, which continues from its own answers. */
void vault_poll_page_stream(const vault_poll_page_t *page);

/** Does the poll still have this page? */
int vault_poll_page_is_taken(const vault_poll_page_t *page);

/** The last step left it CUT; MOVED; OUTDATED. */
int vault_poll_page_is_cut(const vault_poll_page_t *page);
int vault_poll_page_has_moved(const vault_poll_page_t *page);
int vault_poll_page_is_outdated(const vault_poll_page_t *page);

/** The poll has ended for this page. */
void vault_poll_page_leave(const vault_poll_page_t *page);

/** If the acknowledgement of the committed state has not been reported yet, report it to the feeds that wait for
 * it.
 * @param base  the result of vault_poll_page_read(): the committed state or the head of a stream */
void vault_poll_page_report_acks(vault_ticket_t *ticket, vault_state_t *base, apr_pool_t *scratch);

#endif
