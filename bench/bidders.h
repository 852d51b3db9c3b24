/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bidders.h
 * N users of an auction site. Each has the bid history of an item open; now and then it looks at another item, or bids for
 * the one it sees. When, and what, is drawn before the run, from a seed: every way of keeping pages up to date meets the same.
 *
 * A user's browser has two connections: one for pages and bids, one that asks for news.
 */
#ifndef VAULT_BENCH_BIDDERS_H
#define VAULT_BENCH_BIDDERS_H

#include <stddef.h>
#include <stdint.h>

/** How a page learns of bids. */
typedef enum bidders_news_t {
    BIDDERS_NONE,   /**< not at all */
    BIDDERS_RELOAD, /**< it asks every 2 s for the whole page */
    BIDDERS_ASK,    /**< it asks every 2 s for those after the last it has */
    BIDDERS_POLL    /**< a long poll of mod_vault */
} bidders_news_t;

typedef struct bidders_t {
    bidders_news_t news;
    int users;
    int items;      /**< the users look at items first_item … first_item + items - 1 */
    int first_item; /**< of which nobody knows anything yet: items of a run are its own */
    double seconds;
    double think;  /**< mean time between two acts of a user, s */
    double writes; /**< which part of the acts is bids */
    unsigned seed;

    int views, bids; /**< acts done */
    int asked;       /**< requests for news */
    int told;        /**< of those, answered with something */
    double *
        delay; /**< ms from just before a bid was sent until a page that was there before shows it; a sample a display */
    size_t delays, room;
    int missed;  /**< bids that an open page did not show, at the end, within 10 s */
    int doubled; /**< bids that a page showed twice */
    int failed;  /**< answers that are neither 200 nor 204 */
    int reopened;
} bidders_t;

/** Draw the schedule, open a page for each user; return when all are kept up to date. */
void bidders_start(bidders_t *bidders);

/** Let them act for `seconds`. */
void bidders_run(bidders_t *bidders);

/** Wait until every open page shows every bid, and count those that do not. */
void bidders_settle(bidders_t *bidders);

/** Close everything; return when the server holds no poll any more. */
void bidders_leave(bidders_t *bidders);

#endif
