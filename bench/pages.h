/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file pages.h
 * N loaded pages that poll as browsers do: each has a connection, a page id and a seq, and acknowledges its
 * answers.
 *
 * An answer is *expected* from the moment when its interest is notified; other answers are counted but not
 * measured.
 */
#ifndef VAULT_BENCH_PAGES_H
#define VAULT_BENCH_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "client.h"
#include "events.h"
#include "wire.h"

typedef enum page_state_t {
    PAGE_NEW,     /* not loaded yet */
    PAGE_LOADING, /* the page was requested */
    PAGE_READY,   /* loaded or answered, not polling */
    PAGE_POLLING,
    PAGE_DEAD /* a poll was answered by another status than 200 or 204 */
} page_state_t;

typedef struct page_t {
    wire_conn_t conn; /* first: a callback's connection is its page */
    uint64_t seq;
    uint64_t since; /* when its own interest was notified; 0: with all others, at pages_t::since */
    int number;
    unsigned char state;
    unsigned char expected;
    unsigned char told; /* of a stream: it has received an event and not acknowledged it */
    unsigned char held; /* its poll was waiting when pages_expect_ends() was called, and has not ended since */
    events_t events;
    char id[CLIENT_ID_SIZE];
} page_t;

/* How waiting polls end when the server restarts. */
typedef struct pages_ends_t {
    uint64_t since;
    int left;                       /* not ended yet */
    int none, news, error, unasked; /* by 204, by 200, by another status; closed without an answer */
    double *ms;                     /* from `since`, for each */
    size_t count;
} pages_ends_t;

typedef struct pages_t {
    page_t *list;
    int count;
    const char *path;     /* of the page; "%s" in it is replaced by the interest */
    const char *interest; /* the interest of all pages or, with `own`, the prefix of each page's own */
    int own;
    int apart; /* load the page on a connection of its own, and poll on a new one */
    int eager; /* poll again as soon as an answer has arrived, as a browser does */
    int pubsub; /* the server is none of ours: subscribe to channels, without pages (client_subscribe()) */
    int streams; /* ask for streams of events, and acknowledge each event on another connection, as a browser does that is told seldom */

    uint64_t since;
    int expected;    /* pages whose answer is still expected */
    int next;        /* the first page that is not loaded or loading */
    double *latency; /* milliseconds from the notify to the last byte, for each expected answer */
    size_t samples, room;

    int dead;
    int missed;     /* expected, but no 200 came in time */
    int unexpected; /* 200 without a notify by this program */
    int no_news;    /* 204 */
    int reopened;   /* polls sent again because the server has closed the connection without an answer */
    int other[600]; /* other answers by status */
    pages_ends_t ends;
} pages_t;

/** Load all pages, at most 16 at a time. Connections stay open, unless `apart`. */
void pages_load(pages_t *pages);

/** Let every ready page poll. `paced`: a few at a time, so that the server always has free threads. Streams
 * continue by themselves: this acknowledges the events of all pages that received one, and waits for the
 * responses. */
void pages_poll(pages_t *pages, int paced);

/** Wait until the server reports that every living page waits. Exits after 30 s. */
void pages_await_waiting(pages_t *pages);

/** Expect an answer of page `number`, or of all pages (-1), and notify. */
void pages_notify(pages_t *pages, int number);

/** Wait until every expected answer has arrived; those missing after 10 s are counted as missed. */
void pages_await_answers(pages_t *pages);

/** From now on, count in `pages->ends` how the waiting polls end. Pages whose poll has ended poll again at once. */
void pages_expect_ends(pages_t *pages);

/** Make room for `samples` more latencies. */
void pages_reserve(pages_t *pages, size_t samples);

#endif
