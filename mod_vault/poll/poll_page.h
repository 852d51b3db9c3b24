/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file poll_page.h
 * One page at a poll: what the poll may do for it, what it has seen, and the rounds of its methods.
 *
 * A poll has a page for each page that it asks for. A turn of the poll takes each page through the same steps:
 *
 *   look     read the committed state; tell its acks
 *   list     add what it depends on to the poll's watch
 *            (the dispatcher attaches the poll and arms the watch)
 *   compare  has anything moved since what was read?
 *   run      the methods that moved: staged if they wrote anything, else committed
 *
 * Each step says how the page stands. What is wrong with one page is its page's alone.
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

/** How a page stands. */
typedef enum vault_poll_page_status_t {
    VAULT_POLL_PAGE_WAITS,      /* nothing has moved */
    VAULT_POLL_PAGE_MOVED,      /* run, or, without anything in `moved`, look again */
    VAULT_POLL_PAGE_AGAIN,      /* has run and said nothing, or what it did does not count: look again */
    VAULT_POLL_PAGE_STAGED,     /* `updates` are staged as answer `seq` */
    VAULT_POLL_PAGE_GONE,       /* there is no such page any more */
    VAULT_POLL_PAGE_FORBIDDEN,  /* it belongs to another user */
    VAULT_POLL_PAGE_SUPERSEDED, /* a newer poll has the page */
    VAULT_POLL_PAGE_FULL,       /* the page's state does not fit */
    VAULT_POLL_PAGE_CUT,        /* the client went while the methods ran: what they did does not count */
    VAULT_POLL_PAGE_LEFT        /* its stream has told what there was to tell, and goes on without it */
} vault_poll_page_status_t;

typedef struct vault_poll_page_t {
    const char *id; /* of the page, as the poll said it */
    vault_ticket_t ticket;
    vault_method_retry_t retry;
    vault_poll_page_status_t status; /* as the last step left it */
    vault_state_t *base;             /* this turn: the committed state; NULL: not published yet */
    apr_array_header_t *moved;       /* this turn: URLs of the methods to run, of const char * */
    vault_updates_t updates;         /* this turn: what they wrote */
    apr_uint64_t seq;                /* the answer last staged; before, what the poll said */
    apr_uint64_t sent;               /* the answer that a stream has told last; before, what the poll said */
    int html;                        /* the poll asks for HTML: nobody acknowledges what is told (events.h) */
    apr_time_t sent_at; /* then: when it told the last answer that does not count as arrived yet; 0: there is none */
} vault_poll_page_t;

/** Take the page over for the poll `r`. The page is zeroed before, but for `html`. WAITS, GONE or FORBIDDEN. */
vault_poll_page_status_t vault_poll_page_take(vault_poll_page_t *page, request_rec *r, const vault_asked_t *asked);

/** Why a page could not be taken, as vault_page_take() and vault_page_acknowledge() say it; what the admin should know is logged. */
vault_poll_page_status_t vault_poll_page_take_status(request_rec *r, const vault_asked_t *asked, apr_status_t rv);

/** WAITS until compared, GONE or SUPERSEDED.
 * @param scratch  as long as the turn */
vault_poll_page_status_t vault_poll_page_read(vault_poll_page_t *page, apr_pool_t *scratch);

/** WAITS, MOVED or SUPERSEDED. The watch is armed. */
vault_poll_page_status_t vault_poll_page_compare(vault_poll_page_t *page, const vault_interest_set_t *interests);

/** When a method that was refused may be tried again, if that is before `at`; else `at`. The poll then ends: a method
 * is tried with the credentials of the poll, and those of a poll that waits are as old as it is. The page has been
 * looked at in this turn. */
apr_time_t vault_poll_page_retry(const vault_poll_page_t *page, apr_time_t at);

/** Run what moved. AGAIN, NEWS, GONE, SUPERSEDED, FULL or CUT.
 * @param budget  of the answer; what does not fit stays as it is, and runs in the next round */
vault_poll_page_status_t vault_poll_page_run(vault_poll_page_t *page, const vault_interest_set_t *interests,
                                             vault_answer_budget_t *budget);

/** The poll is a stream: it goes on from its own answers. */
void vault_poll_page_stream(const vault_poll_page_t *page);

/** Has the page a page still? */
int vault_poll_page_is_taken(const vault_poll_page_t *page);

/** The poll is over for this page. */
void vault_poll_page_leave(const vault_poll_page_t *page);

/** If the committed state owes acks, tell the feeds that wait for that.
 * @param base  what the look gave, the committed state or a stream's head */
void vault_poll_page_report_acks(vault_ticket_t *ticket, vault_state_t *base, apr_pool_t *scratch);

#endif
