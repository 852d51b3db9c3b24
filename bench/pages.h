/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file pages.h
 * N loaded pages that poll, as browsers would: each has its connection, page id and seq, and acknowledges what it got.
 *
 * An answer is *expected* from the moment its interest is notified; what else comes is counted, not measured.
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
    PAGE_LOADING, /* the page was asked for */
    PAGE_READY,   /* loaded, or answered: does not poll */
    PAGE_POLLING,
    PAGE_DEAD /* a poll was answered by neither 200 nor 204 */
} page_state_t;

typedef struct page_t {
    wire_conn_t conn; /* first: a callback's connection is its page */
    uint64_t seq;
    uint64_t since; /* when its own interest was notified; 0: with all others, at pages_t::since */
    int number;
    unsigned char state;
    unsigned char expected;
    unsigned char told; /* of a stream: has got an event and not acknowledged it */
    unsigned char held; /* its poll waited when pages_expect_ends() was called, and has not ended since */
    events_t events;
    char id[CLIENT_ID_SIZE];
} page_t;

/* How the polls end that wait when the server restarts. */
typedef struct pages_ends_t {
    uint64_t since;
    int left;                       /* have not ended yet */
    int none, news, error, unasked; /* by 204, by 200, by another status; closed without an answer */
    double *ms;                     /* from `since`, each */
    size_t count;
} pages_ends_t;

typedef struct pages_t {
    page_t *list;
    int count;
    const char *path;     /* of the page; "%s" in it stands for the interest */
    const char *interest; /* the interest of all, or with `own` the beginning of each page's own */
    int own;
    int apart; /* load the page on a connection of its own, and poll on a new one */
    int eager; /* poll again as soon as an answer has come, as a browser does */
    int streams; /* ask for streams of events, and acknowledge each event on another connection, as a browser does that is told seldom */

    uint64_t since;
    int expected;    /* pages whose answer has not come yet */
    int next;        /* first page that is not loaded or loading */
    double *latency; /* milliseconds from notify to last byte, a sample an expected answer */
    size_t samples, room;

    int dead;
    int missed;     /* expected, but no 200 came in time */
    int unexpected; /* a 200 that no notify of ours explains */
    int no_news;    /* 204 */
    int reopened;   /* polls sent again because the server closed the connection without an answer */
    int other[600]; /* other answers by status */
    pages_ends_t ends;
} pages_t;

/** Load all pages, at most 16 at a time. The connection stays open, unless `apart`. */
void pages_load(pages_t *pages);

/** Let every page that is ready poll. `paced`: a few at a time, so that never all threads of the server are busy. Streams go on by themselves:
 * the events of all that got one are acknowledged, and the acknowledgements awaited. */
void pages_poll(pages_t *pages, int paced);

/** Wait until the server says that every living page waits. Dies after 30 s. */
void pages_await_waiting(pages_t *pages);

/** Expect an answer of page `number`, or of all (-1), and notify. */
void pages_notify(pages_t *pages, int number);

/** Wait until every expected answer has come; those that have not within 10 s are counted as missed. */
void pages_await_answers(pages_t *pages);

/** From now on count how the polls end that wait, into `pages->ends`. What ended polls again at once. */
void pages_expect_ends(pages_t *pages);

/** Room for `samples` more latencies. */
void pages_reserve(pages_t *pages, size_t samples);

#endif
