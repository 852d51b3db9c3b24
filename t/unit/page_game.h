/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page_game.h
 * The parts of the game that page_model_test.c plays, and their moves: the tables and their writers, a browser,
 * some servers.
 *
 * Each function here is a step: between any two steps, all other parts can move.
 */
#ifndef VAULT_PAGE_GAME_H
#define VAULT_PAGE_GAME_H

#include "page/interest_set.h"
#include "page_fixture.h"

#define SERVERS 4
#define METHODS 3
#define ROWS 60
#define WIRE 6 /* pending requests */
#define ROUNDS 20000
#define ANSWERS 4096 /* of a page */
#define PARTS 3
#define HONEST 2

/** A writer to one of the first two announces the table; a row of ROOMS is in one of PARTS rooms, each announced
 * by itself. */
typedef enum table_t { LOGS, USERS, ROOMS, TABLES } table_t;
#define TOPICS (ROOMS + PARTS)

typedef apr_uint64_t rows_t; /* a bit for each row */

extern const char *const game_topic[TOPICS];

/** The last method shows one room. The table LOGS says which one, so the method learns what to wait for when it
 * has read, and that changes. */
extern const char *const game_method[METHODS];
#define ROOM_METHOD (METHODS - 1)
/** Which tables a method reads. */
extern const int game_reads[METHODS][TABLES];

typedef struct news_t {
    rows_t rows[METHODS][TABLES];
    unsigned refused[METHODS]; /* the status that it is refused with; 0: not refused */
} news_t;

typedef enum kind_t { POLL, STREAM, ACKNOWLEDGEMENT } kind_t;

/* A request on its way to the server. `connection` is the browser's current connection if it still is the
 * newest. */
typedef struct request_t {
    int there;
    kind_t kind;
    vault_page_t page;
    apr_uint64_t seq, tab;
    unsigned connection;
} request_t;

/* An event of a stream on its way to the browser. */
typedef struct event_t {
    apr_uint64_t seq;
    news_t news;
} event_t;

typedef enum step_t { FREE, BEGIN, LOOK, TELL, SETTLE, ARM, SLEEP, CREATE, READ, FINISH, PUT, ANSWER } step_t;

/* The result of a round. */
typedef struct round_t {
    unsigned page;    /* which of the browser's pages */
    apr_uint64_t seq; /* the number of its state */
    unsigned published : 1;
    unsigned news : 1;   /* it had updates, not only refusals */
    unsigned counts : 1; /* the browser shows the answer with that number */
    unsigned told : 1;   /* it was reported to the feed */
} round_t;

typedef struct server_t {
    step_t step, next; /* next: after SETTLE */
    kind_t kind;
    unsigned round; /* the number of the round, which is reported to the feed */
    unsigned slot, connection;
    apr_time_t came; /* when the request arrived */
    pid_t pid;
    apr_pool_t *pool; /* of the turn */
    vault_ticket_t ticket;
    vault_state_t *base;
    vault_interest_set_t interests;
    vault_page_txn_t *txn;
    vault_calls_t calls;    /* of the method, if its application calls the feed externally */
    vault_page_txn_t *call; /* that call; NULL: the method reads itself */
    int moved[METHODS], method, look[TABLES], room;
    rows_t found[TABLES];
    news_t news;
    int has_news;
    int counts; /* a method of the round has succeeded */
    apr_uint64_t seq;
} server_t;

/* Events that must happen in many games. */
typedef enum rare_t {
    REDELIVERED,
    OVERTAKEN,
    FAILED,
    REFUSED,
    TRIED_AGAIN, /* a refused method works again */
    ASIDE,       /* an acknowledgement by itself */
    DISCARDED,
    EXPIRED,
    EARLY,           /* before the page was published */
    FULL,            /* no answer can be staged before one is acknowledged */
    ROOM_AGAIN,      /* and then one was */
    BESIDE_A_ROUND,  /* acknowledged while the stream ran methods */
    CUT,             /* a connection broke with events on it */
    STREAM_KILLED,   /* with its child */
    TAKEN_BY_POLL,   /* a stream by a poll */
    TAKEN_BY_STREAM, /* a stream by another */
    CALLED,          /* a call from outside counted */
    CALLED_IN_VAIN,  /* the run was over before it was added */
    CALLED_LATE,     /* an external call for a run that ended long ago */
    RARE
} rare_t;

typedef struct game_t {
    fixture_t f;
    vault_pages_t *pages;
    apr_pool_t *pool;
    unsigned seed;
    apr_time_t now; /* the clock for refused methods */
    rows_t data[TABLES];
    int unannounced[TOPICS]; /* commits without their notify so far */
    request_t wire[WIRE];
    server_t server[SERVERS];
    /* the browser */
    vault_page_t page;
    unsigned loads;
    apr_uint64_t seq, tab, before;    /* `before`: the number of the previous answer */
    unsigned connection, connections; /* the connection that it reads; 0: none */
    event_t event[VAULT_PAGE_STAGED]; /* on that connection, if it is a stream */
    unsigned events;
    int closed;                 /* by the server: nothing follows these events */
    apr_uint64_t said;          /* the number that its last request has sent */
    unsigned dozes;             /* moves until it continues */
    unsigned streams;           /* percent of its polls */
    unsigned outside;           /* percent of its methods whose application calls the feed externally */
    vault_calls_t over;         /* a run that is over; over.run 0: none yet */
    int feeds;                  /* acknowledgements are to be reported to feeds */
    unsigned lazy;              /* how late it acknowledges answers of a stream */
    unsigned property;          /* written from outside to this page; 0: nothing yet */
    apr_uint64_t from[ANSWERS]; /* for each number, the state that the answer was made from */
    int has[ANSWERS];           /* the browser shows or has shown it */
    apr_uint64_t highest;       /* the highest number given to this page */
    news_t shown;
    unsigned noise; /* 0..8: how much goes wrong in this game; up to HONEST nothing is delivered late or twice */
    int quiet;      /* from now on nothing is lost and no process dies */
    unsigned shows, rare[RARE];
    unsigned doubled, disordered, reused, touched, unpublished, mistold, forgotten, overfull, untold;
    const char *unsound;         /* what a check has found; NULL: nothing */
    unsigned rounds, last_quiet; /* the latest one that was committed without an answer on this page */
    round_t round[ROUNDS];
    pid_t next_pid;
} game_t;

/* ------------------------------------------------- page_game.c: dice, tables */

unsigned game_pick(game_t *g, unsigned n);
int game_chance(game_t *g, unsigned percent);

/** A writer commits a row. The notify follows later, or the writer dies before it.
 * @return the topic to be announced */
int game_write_row(game_t *g, table_t table);
void game_announce(game_t *g, int topic);

/** Create the interest, read, set the cursor: in separate steps, so that other parts can move between them. */
int game_create(vault_page_txn_t *txn, table_t table);
rows_t game_read_rows(game_t *g, vault_page_txn_t *txn, table_t table);

/** The room that is shown, and its rows. */
int game_room(const game_t *g);
rows_t game_rows_of_room(int room);
rows_t game_read_room(game_t *g, vault_page_txn_t *txn, int room);

/** Check the page: it holds exactly the interests that its states depend on. */
void game_check(game_t *g);
/** Check after a state with this number was published: the page holds nothing else, staged states were made from
 * acknowledged ones, and no ancestor of this state is missing. */
void game_check_round(game_t *g, apr_uint64_t seq);

/* --------------------------------------------------- page_game_browser.c */

/** Render the page: its HTML shows the rows of the tables, as state 0. Polls may arrive before it is published. */
void browser_loads(game_t *g);

/** Send a request. @return 0: the connection could not be made */
int browser_sends(game_t *g, kind_t kind, apr_uint64_t seq, unsigned connection);

void browser_polls(game_t *g);

/** The browser applies the answer to a poll. */
void browser_shows(game_t *g, apr_uint64_t seq, const news_t *news);

/** The browser reads the next event of its stream, or its end. @return 1: there was one */
int browser_reads(game_t *g);

/** The browser's connection breaks: everything on it is lost, also an event of which a part has arrived. */
void browser_hangs_up(game_t *g);

/* ----------------------------------------------------- page_game_round.c */

void round_begins(game_t *g, server_t *s);
/** The next method that has moved creates its interests, all before it reads. @return 0: there is no other, or
 * the round is void */
int round_creates(game_t *g, server_t *s);
void round_reads(game_t *g, server_t *s);
/** An external call arrives for a run that has ended: it must change nothing. */
void round_is_called_late(game_t *g);
/** The method ends, or fails; the results of external calls become its own. */
void round_finishes(game_t *g, server_t *s);
/** Stage or commit the result, and check the page. @return as vault_page_stage() */
apr_status_t round_puts(game_t *g, server_t *s);

/* ---------------------------------------------------- page_game_server.c */

/** One step of the server. @return 1: something has moved */
int server_serves(game_t *g, server_t *s);

/** The server is killed during a step: its slot is void, and the parent notifies all. */
void server_dies(game_t *g, server_t *s);

#endif
