/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file seats.h
 * All the pages of one poll, and what they watch together. What is wrong with one of them is its seat's alone (seat.h).
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_SEATS_H
#define VAULT_SEATS_H

#include "poll/seat.h"

typedef struct vault_seats_t {
    vault_watch_t watch; /* what all of them depend on */
    int html; /* the poll asks for HTML (events.h); it has one page then */
    unsigned count;
    vault_seat_t *seat; /* in the order in which they were asked for */
} vault_seats_t;

/** Take the pages over for the poll `r`. */
void vault_seats_take(vault_seats_t *seats, request_rec *r, const vault_poll_request_t *q);

/** Is there a seat of which this holds? */
int vault_seats_any(const vault_seats_t *seats, int (*is)(const vault_seat_t *seat));

/** Look at the pages that there are still, and list what they depend on: nothing, if one of them has something to say.
 * @param scratch  as long as the turn */
void vault_seats_look(vault_seats_t *seats, apr_pool_t *scratch);

/** Arm the watch, and compare with what the pages have seen. The poll is attached, or could not be. */
void vault_seats_compare(vault_seats_t *seats, apr_pool_t *scratch);

/** Run what moved, as far as the answer has room (VaultMaxAnswer). Pages and methods for which it has none stay as they are: the next
 * poll, or the next turn of a stream, runs them before the others. */
void vault_seats_run(vault_seats_t *seats);

/** When some method that rests is to run again, if that is before `due`; else `due`. */
apr_time_t vault_seats_due(const vault_seats_t *seats, apr_time_t due);

/** When the poll is to end, so that refused methods are tried again by the next one (vault_seat_retry()), if that is
 * before `end`; else `end`. */
apr_time_t vault_seats_retry(const vault_seats_t *seats, apr_time_t end);

/** The poll was woken. Each page hears of it: whoever is notified rests no more. */
void vault_seats_woken(vault_seats_t *seats, unsigned causes);

/** The poll waits: rounds are no longer in sequence. */
void vault_seats_wait(vault_seats_t *seats);

/** The poll is a stream: its pages go on from its own answers. */
void vault_seats_stream(const vault_seats_t *seats);

/** The poll stays: its pages count as polled until then. */
void vault_seats_stay(const vault_seats_t *seats, apr_time_t until);

/** What a stream has told of all pages, as Last-Event-ID: their numbers, in the order in which they were asked for. An answer that is
 * staged and will be told by a later event is not in it, since that one may get lost. */
const char *vault_seats_told(const vault_seats_t *seats, apr_pool_t *pool);

/** The poll is over. */
void vault_seats_leave(const vault_seats_t *seats);

#endif
