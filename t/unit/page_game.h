/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page_game.h
 * The pieces of the game that page_model_test.c plays, and what each may do: the tables and who writes to them, a browser, some servers.
 *
 * Whatever is called here is a step: between any two of them everybody else may move.
 */
#ifndef VAULT_PAGE_GAME_H
#define VAULT_PAGE_GAME_H

#include "page_fixture.h"

#define SERVERS 4
#define TABLES 2
#define METHODS 2
#define ROWS 60
#define WIRE 6 /* polls under way */
#define ROUNDS 20000

typedef apr_uint64_t rows_t; /* a bit for each row */

extern const char *const game_table[TABLES];
extern const char *const game_method[METHODS];
/** Which tables a method reads. */
extern const int game_reads[METHODS][TABLES];

typedef struct news_t {
    rows_t rows[METHODS][TABLES];
} news_t;

/* A poll under way to the server. `connection` is what the browser listens on if it is still the newest. */
typedef struct request_t {
    int there;
    vault_page_t page;
    apr_uint64_t seq, tab;
    unsigned connection;
} request_t;

typedef enum step_t { FREE, LOOK, TELL, SETTLE, SLEEP, CREATE, READ, FINISH, PUT, ANSWER } step_t;

/* What has become of a round. */
typedef struct round_t {
    unsigned counts : 1; /* its answer was shown, or it was committed without one */
    unsigned told : 1;
} round_t;

typedef struct server_t {
    step_t step, next; /* next: after SETTLE */
    unsigned round;    /* the number of the round, which it has a feed hear of */
    unsigned slot, connection;
    pid_t pid;
    apr_pool_t *pool; /* of the round */
    vault_ticket_t ticket;
    vault_state_t *base;
    vault_run_t *run;
    int moved[METHODS], method, look[TABLES];
    rows_t found[TABLES];
    news_t news;
    int has_news;
    apr_uint64_t seq;
    vault_interest_t waits[8];
    int count;
} server_t;

typedef struct game_t {
    fixture_t f;
    vault_pages_t *pages;
    apr_pool_t *pool;
    unsigned seed;
    rows_t data[TABLES];
    int unannounced[TABLES]; /* commits whose notify is still to come */
    request_t wire[WIRE];
    server_t server[SERVERS];
    /* the browser */
    vault_page_t page;
    apr_uint64_t seq, tab, before;    /* the number of the answer before */
    unsigned connection, connections; /* it listens on; 0: on none */
    unsigned dozes;                   /* moves until it polls again */
    news_t shown;
    unsigned shown_round;
    unsigned property;    /* written from outside to this page; 0: nothing yet */
    apr_uint64_t highest; /* the largest number this page was given */
    unsigned noise;       /* 1..8: how much goes wrong in this game */
    int quiet;            /* nothing is lost any more, nothing dies */
    /* what happened, so that a game that tests nothing is noticed */
    unsigned shows, expired, redelivered, overtaken, failures, aside;
    unsigned doubled, reused, touched, unpublished, discarded, mistold, forgotten;
    unsigned rounds, last_quiet; /* the latest that was committed without an answer on this page */
    round_t round[ROUNDS];
    pid_t next_pid;
} game_t;

/* ------------------------------------------------- page_game.c: dice, tables */

unsigned game_pick(game_t *g, unsigned n);
int game_chance(game_t *g, unsigned percent);

/** Somebody commits a row; the notify is to come, or he dies before it. */
void game_write_row(game_t *g, int table);
void game_announce(game_t *g, int table);

/** Create the interest, then read, then set the cursor: in steps, so that anything may happen between them. */
int game_create(vault_run_t *run, int table);
rows_t game_read_rows(game_t *g, vault_run_t *run, int table);

/* --------------------------------------------------- page_game_browser.c */

/** The page is rendered: its HTML shows what the tables hold, and that is state 0. Polls may come before it is published. */
void browser_loads(game_t *g);

/** A poll goes on its way. @return 0 the connection could not be made */
int browser_sends(game_t *g, apr_uint64_t seq, unsigned connection);

void browser_polls(game_t *g);
void browser_shows(game_t *g, apr_uint64_t seq, const news_t *news);

/** An acknowledgement without a poll, as a browser sends it when it leaves a page that it may come back to. */
void browser_acknowledges(game_t *g);

/* ---------------------------------------------------- page_game_server.c */

/** One step of the server. @return whether anything moved */
int server_serves(game_t *g, server_t *s);

/** Killed within: its slot is void, and the parent notifies all. */
void server_dies(game_t *g, server_t *s);

#endif
