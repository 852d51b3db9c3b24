/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bidders.h
 * N users of an auction site. Each has the bid history of an item open; from time to time a user views another
 * item, or bids for the current one. Times and acts are drawn from a seed before the run, so that every way of
 * updating pages has the same load.
 *
 * A user's browser has two connections: one for pages and bids, one for updates.
 */
#ifndef VAULT_BENCH_BIDDERS_H
#define VAULT_BENCH_BIDDERS_H

#include <stddef.h>
#include <stdint.h>

/** How a page gets updates. */
typedef enum bidders_news_t {
    BIDDERS_NONE,   /**< not at all */
    BIDDERS_RELOAD, /**< it requests the whole page every 2 s */
    BIDDERS_ASK,    /**< it requests the rows after its last one every 2 s */
    BIDDERS_POLL    /**< a long poll of mod_vault */
} bidders_news_t;

typedef struct bidders_t {
    bidders_news_t news;
    const char *page; /**< the path of the history of an item, as a format for its number */
    int users;
    int items;      /**< the users view items first_item … first_item + items - 1 */
    int first_item; /**< no earlier run has bid for these items */
    double seconds;
    double think;  /**< mean time between two acts of a user, s */
    double writes; /**< the fraction of acts that are bids */
    unsigned seed;

    int views, bids; /**< acts done */
    int asked;       /**< requests for updates */
    int told;        /**< of those, answered with rows */
    double *delay;   /**< ms from just before a bid was sent until an older page shows it; a sample for each display */
    size_t delays, room;
    int missed;  /**< bids that an open page did not show within 10 s after the end */
    int doubled; /**< bids that a page showed twice */
    int failed;  /**< answers with a status other than 200 or 204 */
    int reopened;
} bidders_t;

/** Draw the schedule, and open a page for each user; returns when all pages get updates. */
void bidders_start(bidders_t *bidders);

/** Let the users act for `seconds`. */
void bidders_run(bidders_t *bidders);

/** Wait until every open page shows every bid, and count missing ones. */
void bidders_settle(bidders_t *bidders);

/** Close everything; returns when the server holds no poll any more. */
void bidders_leave(bidders_t *bidders);

#endif
