/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file seat.h
 * One page at a poll: what the poll may do for it, what it has seen, and the rounds of its methods.
 *
 * A poll has a seat for each page that it asks for. A turn of the poll takes each seat through the same steps:
 *
 *   look     read the committed state; tell its acks
 *   list     add what it depends on to the poll's watch
 *            (the dispatcher attaches the poll and arms the watch)
 *   compare  has anything moved since what was read?
 *   run      the methods that moved: staged if they wrote anything, else committed
 *
 * Each step says how the seat stands. What is wrong with one page is its seat's alone.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_SEAT_H
#define VAULT_SEAT_H

#include "httpd.h"

#include "page/page.h"
#include "page/watch.h"
#include "poll/poll_request.h"
#include "poll/rounds.h"

/** How a seat stands. */
typedef enum vault_standing_t {
    VAULT_SEAT_WAITS,      /* nothing has moved */
    VAULT_SEAT_MOVED,      /* run, or, without anything in `moved`, look again */
    VAULT_SEAT_AGAIN,      /* has run and said nothing, or what it did does not count: look again */
    VAULT_SEAT_NEWS,       /* `updates` are staged as answer `seq` */
    VAULT_SEAT_GONE,       /* there is no such page any more */
    VAULT_SEAT_FORBIDDEN,  /* it belongs to another user */
    VAULT_SEAT_SUPERSEDED, /* a newer poll has the page */
    VAULT_SEAT_FULL,       /* the page's state does not fit */
    VAULT_SEAT_CUT,        /* the client went while the methods ran: what they did does not count */
    VAULT_SEAT_LEFT        /* its stream has told what there was to tell, and goes on without it */
} vault_standing_t;

typedef struct vault_seat_t {
    const char *id; /* of the page, as the poll said it */
    vault_ticket_t ticket;
    vault_rounds_t rounds;
    vault_standing_t standing; /* as the last step left it */
    vault_state_t *base;       /* this turn: the committed state; NULL: not published yet */
    apr_array_header_t *moved; /* this turn: URLs of the methods to run, of const char * */
    vault_updates_t updates;   /* this turn: what they wrote */
    apr_uint64_t seq;          /* the answer last staged; before, what the poll said */
    apr_uint64_t told;         /* the answer that a stream has told last; before, what the poll said */
    int html;                  /* the poll asks for HTML: nobody acknowledges what is told (events.h) */
    apr_time_t told_at;        /* then: when it told the last answer that does not count as arrived yet; 0: there is none */
} vault_seat_t;

/** Take the page over for the poll `r`. The seat is zeroed before, but for `html`. WAITS, GONE or FORBIDDEN. */
vault_standing_t vault_seat_take(vault_seat_t *seat, request_rec *r, const vault_asked_t *asked);

/** Why a page could not be taken, as vault_page_take() and vault_page_acknowledge() say it; what the admin should know is logged. */
vault_standing_t vault_seat_untaken(request_rec *r, const vault_asked_t *asked, apr_status_t rv);

/** WAITS until compared, GONE or SUPERSEDED.
 * @param scratch  as long as the turn */
vault_standing_t vault_seat_look(vault_seat_t *seat, apr_pool_t *scratch);

/** WAITS, MOVED or SUPERSEDED. The watch is armed. */
vault_standing_t vault_seat_compare(vault_seat_t *seat, const vault_watch_t *watch);

/** When a method that was refused may be tried again, if that is before `at`; else `at`. The poll then ends: a method
 * is tried with the credentials of the poll, and those of a poll that waits are as old as it is. The seat has been
 * looked at in this turn. */
apr_time_t vault_seat_retry(const vault_seat_t *seat, apr_time_t at);

/** Run what moved. AGAIN, NEWS, GONE, SUPERSEDED, FULL or CUT.
 * @param budget  of the answer; what does not fit stays as it is, and runs in the next round */
vault_standing_t vault_seat_run(vault_seat_t *seat, const vault_watch_t *watch, vault_answer_budget_t *budget);

/** The poll is a stream: it goes on from its own answers. */
void vault_seat_stream(const vault_seat_t *seat);

/** Has the seat a page still? */
int vault_seat_is_taken(const vault_seat_t *seat);

/** The poll is over for this page. */
void vault_seat_leave(const vault_seat_t *seat);

/** If the committed state owes acks, tell the feeds that wait for that.
 * @param base  what the look gave, the committed state or a stream's tip */
void vault_seat_tell_acks(vault_ticket_t *ticket, vault_state_t *base, apr_pool_t *scratch);

#endif
