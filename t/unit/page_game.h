/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page_game.h
 * The pieces of the game that page_model_test.c plays, and what each may do: the tables and who writes to them, a browser, some servers.
 *
 * Whatever is called here is a step: between any two of them everybody else may move.
 */
#ifndef VAULT_PAGE_GAME_H
#define VAULT_PAGE_GAME_H

#include "page/interest_set.h"
#include "page_fixture.h"

#define SERVERS 4
#define METHODS 3
#define ROWS 60
#define WIRE 6 /* requests under way */
#define ROUNDS 20000
#define ANSWERS 4096 /* of a page */
#define PARTS 3
#define HONEST 2

/** A writer to one of the first two announces the table; a row of ROOMS is in one of PARTS rooms, each announced by itself. */
typedef enum table_t { LOGS, USERS, ROOMS, TABLES } table_t;
#define TOPICS (ROOMS + PARTS)

typedef apr_uint64_t rows_t; /* a bit for each row */

extern const char *const game_topic[TOPICS];

/** The last method shows one room. Which one the logs say, so what it waits for is known when it has read, and changes. */
extern const char *const game_method[METHODS];
#define ROOM_METHOD (METHODS - 1)
/** Which tables a method reads. */
extern const int game_reads[METHODS][TABLES];

typedef struct news_t {
    rows_t rows[METHODS][TABLES];
    unsigned refused[METHODS]; /* the status that it is refused with; 0: nothing is said of that */
} news_t;

typedef enum kind_t { POLL, STREAM, ACKNOWLEDGEMENT } kind_t;

/* A request under way to the server. `connection` is what the browser listens on if it is still the newest. */
typedef struct request_t {
    int there;
    kind_t kind;
    vault_page_t page;
    apr_uint64_t seq, tab;
    unsigned connection;
} request_t;

/* An answer of a stream under way to the browser. */
typedef struct event_t {
    apr_uint64_t seq;
    news_t news;
} event_t;

typedef enum step_t { FREE, BEGIN, LOOK, TELL, SETTLE, ARM, SLEEP, CREATE, READ, FINISH, PUT, ANSWER } step_t;

/* What has become of a round. */
typedef struct round_t {
    unsigned page;    /* which of the browser's pages */
    apr_uint64_t seq; /* the number that its state got */
    unsigned published : 1;
    unsigned news : 1;   /* it had something to show, and not only that methods are refused */
    unsigned counts : 1; /* the browser shows the answer of that number */
    unsigned told : 1;   /* the feed has heard of it */
} round_t;

typedef struct server_t {
    step_t step, next; /* next: after SETTLE */
    kind_t kind;
    unsigned round; /* the number of the round, which it has a feed hear of */
    unsigned slot, connection;
    apr_time_t came; /* when it was asked */
    pid_t pid;
    apr_pool_t *pool; /* of the turn */
    vault_ticket_t ticket;
    vault_state_t *base;
    vault_interest_set_t interests;
    vault_page_txn_t *txn;
    vault_calls_t calls;    /* of the method, if an application runs it, which calls the feed from outside */
    vault_page_txn_t *call; /* that call; NULL: the method reads by itself */
    int moved[METHODS], method, look[TABLES], room;
    rows_t found[TABLES];
    news_t news;
    int has_news;
    int counts; /* a method of the round does */
    apr_uint64_t seq;
} server_t;

/* What must happen often. */
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
    CALLED_LATE,     /* for a run that was over long ago */
    RARE
} rare_t;

typedef struct game_t {
    fixture_t f;
    vault_pages_t *pages;
    apr_pool_t *pool;
    unsigned seed;
    apr_time_t now; /* what refused methods rest by */
    rows_t data[TABLES];
    int unannounced[TOPICS]; /* commits whose notify is still to come */
    request_t wire[WIRE];
    server_t server[SERVERS];
    /* the browser */
    vault_page_t page;
    unsigned loads;
    apr_uint64_t seq, tab, before;    /* the number of the answer before */
    unsigned connection, connections; /* it listens on; 0: on none */
    event_t event[VAULT_PAGE_STAGED]; /* on that connection, if it is a stream */
    unsigned events;
    int closed;                 /* by the server: nothing comes after these */
    apr_uint64_t said;          /* what its last request said */
    unsigned dozes;             /* moves until it goes on */
    unsigned streams;           /* percent of its polls */
    unsigned outside;           /* percent of its methods whose application calls the feed from outside */
    vault_calls_t over;         /* a run that is over; over.run 0: none yet */
    int feeds;                  /* want to hear what was acknowledged */
    unsigned lazy;              /* how late it acknowledges beside a stream */
    unsigned property;          /* written from outside to this page; 0: nothing yet */
    apr_uint64_t from[ANSWERS]; /* of each number, that of the state that the answer was made from */
    int has[ANSWERS];           /* the browser shows or has shown it */
    apr_uint64_t highest;       /* the largest number this page was given */
    news_t shown;
    unsigned noise; /* 0..8: how much goes wrong in this game; up to HONEST nothing comes late or twice */
    int quiet;      /* nothing is lost any more, nothing dies */
    unsigned shows, rare[RARE];
    unsigned doubled, disordered, reused, touched, unpublished, mistold, forgotten, overfull, untold;
    const char *unsound;         /* what a check has found; NULL: nothing */
    unsigned rounds, last_quiet; /* the latest that was committed without an answer on this page */
    round_t round[ROUNDS];
    pid_t next_pid;
} game_t;

/* ------------------------------------------------- page_game.c: dice, tables */

unsigned game_pick(game_t *g, unsigned n);
int game_chance(game_t *g, unsigned percent);

/** A writer commits a row; the notify is to come, or the writer dies before it.
 * @return the topic to be announced */
int game_write_row(game_t *g, table_t table);
void game_announce(game_t *g, int topic);

/** Create the interest, then read, then set the cursor: in steps, so that anything may happen between them. */
int game_create(vault_page_txn_t *txn, table_t table);
rows_t game_read_rows(game_t *g, vault_page_txn_t *txn, table_t table);

/** Which room is it, and what is in it? */
int game_room(const game_t *g);
rows_t game_rows_of_room(int room);
rows_t game_read_room(game_t *g, vault_page_txn_t *txn, int room);

/** Look at all that lies in the page: what its states name it holds. */
void game_check(game_t *g);
/** A state of that number has just been published, so the page holds nothing else; what is staged was made from what is acknowledged, and
 * of what this state was made from nothing is missing. */
void game_check_round(game_t *g, apr_uint64_t seq);

/* --------------------------------------------------- page_game_browser.c */

/** The page is rendered: its HTML shows what the tables hold, and that is state 0. Polls may come before it is published. */
void browser_loads(game_t *g);

/** A request goes on its way. @return 0 the connection could not be made */
int browser_sends(game_t *g, kind_t kind, apr_uint64_t seq, unsigned connection);

void browser_polls(game_t *g);

/** The answer of a poll. */
void browser_shows(game_t *g, apr_uint64_t seq, const news_t *news);

/** The next event of its stream, or the end of it. @return whether there was any */
int browser_reads(game_t *g);

/** Its connection breaks: whatever is on it is lost, an event of which only a part has come as well. */
void browser_hangs_up(game_t *g);

/* ----------------------------------------------------- page_game_round.c */

void round_begins(game_t *g, server_t *s);
/** The next method that has moved creates its interests, all before it reads. @return 0 there is none left, or the round is void */
int round_creates(game_t *g, server_t *s);
void round_reads(game_t *g, server_t *s);
/** A call for a run that is over comes in: it changes nothing. */
void round_is_called_late(game_t *g);
/** It is over, or has failed; what was called from outside is the method's. */
void round_finishes(game_t *g, server_t *s);
/** Stage or commit what came of it, and look whether the page is then as it must be. @return as vault_page_stage() */
apr_status_t round_puts(game_t *g, server_t *s);

/* ---------------------------------------------------- page_game_server.c */

/** One step of the server. @return whether anything moved */
int server_serves(game_t *g, server_t *s);

/** Killed within: its slot is void, and the parent notifies all. */
void server_dies(game_t *g, server_t *s);

#endif
