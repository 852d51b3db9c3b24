/* SPDX-License-Identifier: Apache-2.0 */
/* The protocol played at random against an oracle: what was committed is shown, and shown once.
 *
 * Writers commit rows to two tables and notify, or die before they do. Servers take polls, arm, compare, sleep, run two methods step
 * by step, stage and answer, or die within; a feed hears of what was acknowledged; somebody writes a property from outside. One browser reads, loses connections, polls again; polls are delivered late and twice;
 * acknowledgements come by the side; another tab tries its luck; the page is dropped. Each step is one move of the game, so that all
 * interleavings of the steps are possible; the oracle is what the browser shows. At the end nothing is lost any more, everything that
 * can move moves, and what the browser shows must be what the tables hold.
 */
#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#include "page_fixture.h"
#include "unit.h"

#define GAMES 2000
#define MOVES 1000
#define SERVERS 4
#define TABLES 2
#define METHODS 2
#define ROWS 60
#define WIRE 6 /* polls under way */
#define ROUNDS 20000

typedef apr_uint64_t rows_t; /* a bit for each row */

static const char *const table_name[TABLES] = {"DB-logs", "DB-users"};
static const char *const method_url[METHODS] = {"/logs", "/both"};
/* Which tables a method reads. */
static const int reads[METHODS][TABLES] = {{1, 0}, {1, 1}};

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

static unsigned pick(game_t *g, unsigned n)
{
    return (unsigned)rand_r(&g->seed) / 7 % n;
}

static int chance(game_t *g, unsigned percent)
{
    return pick(g, 100) < percent;
}

/* ------------------------------------------------------------------- a cursor */

static rows_t cursor_rows(const char *value)
{
    return value ? strtoull(value, NULL, 16) : 0;
}

/* Create the interest, then read, then set the cursor: in steps, so that anything may happen between them. */
static int create(vault_run_t *run, int table)
{
    return vault_run_create_interest(run, table_name[table], table_name[table]);
}

static rows_t read_rows(game_t *g, vault_run_t *run, int table)
{
    rows_t before = cursor_rows(vault_run_cursor(run, table_name[table]));

    vault_run_set_cursor(run, table_name[table], apr_psprintf(g->pool, "%" APR_UINT64_T_HEX_FMT, g->data[table]));
    return g->data[table] & ~before;
}

/* ------------------------------------------------------------------ the writers */

static void announce(game_t *g, int table)
{
    g->unannounced[table] = 0;
    vault_notifier_notify(g->f.notifier, table_name[table], 0);
}

static void write_row(game_t *g, int table)
{
    g->data[table] |= APR_UINT64_C(1) << pick(g, ROWS);
    g->unannounced[table] = 1;
    if (chance(g, 5)) { /* it dies before its notify; the parent notices */
        g->unannounced[table] = 0;
        vault_notifier_all(g->f.notifier, 0);
    }
}

/* ------------------------------------------------------------------ the browser */

/* @return 0 the connection could not be made */
static int send_poll(game_t *g, apr_uint64_t seq, unsigned connection)
{
    unsigned i = pick(g, WIRE);

    if (g->wire[i].there) {
        return 0;
    }
    g->wire[i].there = 1;
    g->wire[i].page = g->page;
    g->wire[i].seq = seq;
    g->wire[i].tab = g->tab;
    g->wire[i].connection = connection;
    return 1;
}

static void browser_polls(game_t *g)
{
    g->connection = ++g->connections;
    if (!send_poll(g, g->seq, g->connection)) {
        g->connection = 0;
        return;
    }
    if (!g->quiet && chance(g, 2 * g->noise)) {
        send_poll(g, g->seq, g->connection); /* a proxy sends it twice */
    }
}

/* The page is rendered: its HTML shows what the tables hold, and that is state 0. Polls may come before it is published. */
static void browser_loads(game_t *g)
{
    vault_run_t *run;
    int m, t;

    CU_ASSERT_FATAL(vault_page_create(g->pages, &g->page, NULL, NOW, IDLE) == APR_SUCCESS);
    run = vault_run_create(g->pages, &g->page, vault_state_create(g->pool), g->pool);
    memset(&g->shown, 0, sizeof(g->shown));
    for (t = 0; t < TABLES; t++) {
        create(run, t);
        if (!g->quiet && chance(g, 30)) {
            write_row(g, (int)pick(g, TABLES));
        }
        g->shown.rows[0][t] = read_rows(g, run, t);
    }
    for (m = 0; m < METHODS; m++) {
        vault_run_add_method(run, method_url[m], METHODS);
        memcpy(g->shown.rows[m], g->shown.rows[0], sizeof(g->shown.rows[m]));
    }
    vault_run_end(run, 1);
    g->seq = g->before = g->highest = 0;
    g->property = g->shown_round = g->last_quiet = 0;
    g->dozes = 0;
    g->tab = chance(g, 50) ? 0 : 1 + pick(g, 1000);
    browser_polls(g);
    if (vault_page_publish(g->pages, &g->page, vault_run_state(run)) != APR_SUCCESS) {
        g->unpublished++;
    }
}

static void browser_shows(game_t *g, apr_uint64_t seq, const news_t *news)
{
    int m, t;

    for (m = 0; m < METHODS; m++) {
        for (t = 0; t < TABLES; t++) {
            g->doubled += (g->shown.rows[m][t] & news->rows[m][t]) != 0;
            g->shown.rows[m][t] |= news->rows[m][t];
        }
    }
    g->before = g->seq;
    g->seq = seq;
    g->shows++;
    if (!g->quiet && chance(g, 4 * g->noise)) {
        g->dozes = pick(g, 200); /* its next poll takes a long way */
        return;
    }
    browser_polls(g);
}

/* An acknowledgement without a poll, as a browser sends it when it leaves a page that it may come back to. */
static void browser_acknowledges(game_t *g)
{
    vault_take_t take = {g->seq, {g->tab, g->tab}, NULL, NOW, NOW};

    g->aside += page_acknowledge(g->pages, &g->page, &take) == APR_SUCCESS;
    g->connection = 0;
}

/* ------------------------------------------------------------------- a server */

static void serve_no_more(server_t *s)
{
    s->step = FREE;
    apr_pool_clear(s->pool);
}

static int is_heard(const game_t *g, const server_t *s)
{
    return g->connection && s->connection == g->connection;
}

static void hear_nothing(game_t *g, server_t *s)
{
    if (is_heard(g, s)) {
        g->connection = 0;
    }
    serve_no_more(s);
}

/* Killed within: its slot is void, and the parent notifies all. */
static void die(game_t *g, server_t *s)
{
    unsigned slot;

    vault_slot_exited(g->f.notifier, s->pid, &slot);
    hear_nothing(g, s);
    s->pid = g->next_pid++;
    CU_ASSERT_FATAL(vault_slot_claim(g->f.notifier, s->pid, &s->slot) == APR_SUCCESS);
}

static void hear_expired(game_t *g, server_t *s)
{
    int listens = is_heard(g, s);

    serve_no_more(s);
    if (listens) {
        g->expired++;
        vault_page_drop(g->pages, &g->page);
        browser_loads(g);
    }
}

static void accept_poll(game_t *g, server_t *s, request_t *r)
{
    vault_take_t take = {r->seq, {r->tab, r->tab}, NULL, NOW, NOW};

    r->there = 0;
    s->connection = r->connection;
    if (vault_page_take(g->pages, &r->page, &take, &s->ticket) != APR_SUCCESS) {
        hear_expired(g, s);
        return;
    }
    g->redelivered += s->ticket.redelivers != 0;
    s->step = LOOK;
}

static void wait_for(server_t *s, vault_interest_t interest)
{
    int i;

    for (i = 0; i < s->count && s->waits[i] != interest; i++) {
    }
    if (i == s->count && s->count < (int)(sizeof(s->waits) / sizeof(s->waits[0]))) {
        s->waits[s->count++] = interest;
    }
}

/* Arm the interests of a method, and compare: arm first (notifier.h). */
static int arm_method(game_t *g, server_t *s, const vault_method_t *m)
{
    int k, moved = m->deps == NULL;

    for (k = 0; m->deps && k < m->deps->nelts; k++) {
        const vault_dep_t *d = &((vault_dep_t *)m->deps->elts)[k];
        wait_for(s, d->interest);
        moved |= vault_interest_arm(g->f.notifier, d->interest, s->slot) > d->stamp;
    }
    return moved;
}

/* What was written from outside is there from then on. */
static void check_property(game_t *g, const server_t *s)
{
    const vault_property_t *p = vault_state_property(s->base, "outside");

    if (memcmp(&s->ticket.page, &g->page, sizeof(g->page)) == 0) {
        g->forgotten += (p ? (unsigned)atoi(p->value) : 0) != g->property;
    }
}

static void tell(game_t *g, server_t *s)
{
    int i;

    for (i = 0; i < s->base->acks->nelts; i++) {
        unsigned round = (unsigned)atoi(APR_ARRAY_IDX(s->base->acks, i, vault_ack_t).data);
        g->mistold += !g->round[round].counts;
        g->round[round].told = 1;
    }
    s->step = SETTLE;
}

static void look(game_t *g, server_t *s)
{
    int m, moved = 0;
    apr_status_t rv;

    apr_pool_clear(s->pool);
    s->count = 0;
    wait_for(s, s->ticket.interest);
    vault_interest_arm(g->f.notifier, s->ticket.interest, s->slot);
    rv = vault_page_look(g->pages, &s->ticket, &s->base, s->pool);
    if (rv == APR_EAGAIN) {
        s->step = SLEEP;
        return;
    }
    if (rv != APR_SUCCESS) {
        g->overtaken += rv == APR_ECONNABORTED;
        (rv == APR_NOTFOUND ? hear_expired : hear_nothing)(g, s);
        return;
    }
    check_property(g, s);
    for (m = 0; m < METHODS; m++) {
        moved |= s->moved[m] = arm_method(g, s, vault_state_method(s->base, method_url[m]));
    }
    s->step = moved ? CREATE : SLEEP;
    if (s->base->acks->nelts) {
        s->next = s->step;
        s->step = TELL;
    }
    if (moved) {
        s->method = -1;
        s->has_news = 0;
        memset(&s->news, 0, sizeof(s->news));
        s->run = vault_run_create(g->pages, &s->ticket.page, s->base, s->pool);
        s->round = ++g->rounds < ROUNDS ? g->rounds : 0;
    }
}

/* @return whether it was woken */
static int drain(game_t *g, server_t *s)
{
    vault_interest_t list[VAULT_SLOT_QUEUE];
    unsigned count, i;
    int k, woken = vault_slot_drain(g->f.notifier, s->slot, list, VAULT_SLOT_QUEUE, &count);

    for (i = 0; i < count; i++) {
        for (k = 0; k < s->count; k++) {
            woken |= s->waits[k] == list[i];
        }
    }
    if (woken) {
        s->step = LOOK;
    }
    return woken;
}

/* The next method that has moved: create its interests, all before it reads. */
static void create_interests(server_t *s)
{
    int t;

    do {
        s->method++;
    } while (s->method < METHODS && !s->moved[s->method]);
    if (s->method == METHODS) {
        s->step = PUT;
        return;
    }
    vault_run_begin(s->run, method_url[s->method]);
    vault_run_on_ack(s->run, "feed", apr_itoa(s->pool, (int)s->round));
    for (t = 0; t < TABLES; t++) {
        s->look[t] = reads[s->method][t] && create(s->run, t);
    }
    s->step = READ;
}

/* Whoever is told that nothing happened does not look. */
static void read_tables(game_t *g, server_t *s)
{
    int t;

    for (t = 0; t < TABLES; t++) {
        s->found[t] = s->look[t] ? read_rows(g, s->run, t) : 0;
        if (!g->quiet && reads[s->method][t] && chance(g, 20)) {
            write_row(g, t);
            announce(g, t);
            create(s->run, t); /* once more, too late for what was read */
        }
    }
    s->step = FINISH;
}

static void finish_method(game_t *g, server_t *s)
{
    int t, ok = g->quiet || !chance(g, 7 * g->noise);

    g->failures += !ok;
    s->step = CREATE;
    if (!vault_run_end(s->run, ok)) {
        return;
    }
    for (t = 0; t < TABLES; t++) {
        s->news.rows[s->method][t] = s->found[t];
        s->has_news |= s->found[t] != 0;
    }
}

static void put(game_t *g, server_t *s)
{
    vault_state_t *next = vault_run_state(s->run);
    apr_uint64_t seq = s->base->seq;
    apr_status_t rv =
        s->has_news ? vault_page_stage(g->pages, &s->ticket, next) : vault_page_commit(g->pages, &s->ticket, next);

    if (rv == APR_EAGAIN) {
        g->discarded++;
        s->step = LOOK;
        return;
    }
    if (rv != APR_SUCCESS) {
        g->overtaken += rv == APR_ECONNABORTED;
        (rv == APR_NOTFOUND ? hear_expired : hear_nothing)(g, s);
        return;
    }
    s->seq = next->seq;
    s->step = s->has_news ? ANSWER : LOOK;
    if (!s->has_news) {
        g->touched += next->seq != seq; /* a quiet round keeps the number */
        g->round[s->round].counts = 1;
        if (next->acks->nelts && memcmp(&s->ticket.page, &g->page, sizeof(g->page)) == 0) {
            g->last_quiet = s->round;
        }
        return;
    }
    if (memcmp(&s->ticket.page, &g->page, sizeof(g->page)) == 0) {
        g->reused += next->seq <= g->highest; /* no number twice */
        g->highest = next->seq;
    }
}

static void answer(game_t *g, server_t *s)
{
    news_t news = s->news;
    apr_uint64_t seq = s->seq;
    int listens = is_heard(g, s);

    serve_no_more(s);
    if (listens) {
        g->connection = 0;
        g->round[s->round].counts = 1;
        g->shown_round = s->round;
        browser_shows(g, seq, &news);
    }
}

/* @return whether anything moved */
static int serve(game_t *g, server_t *s)
{
    unsigned i = pick(g, WIRE);

    switch (s->step) {
    case FREE:
        if (g->wire[i].there) {
            accept_poll(g, s, &g->wire[i]);
            return 1;
        }
        return 0;
    case LOOK:
        look(g, s);
        return 1;
    case TELL:
        tell(g, s);
        return 1;
    case SETTLE:
        vault_page_settle(g->pages, &s->ticket);
        s->step = s->next;
        return 1;
    case SLEEP:
        return drain(g, s);
    case CREATE:
        create_interests(s);
        return 1;
    case READ:
        read_tables(g, s);
        return 1;
    case FINISH:
        finish_method(g, s);
        return 1;
    case PUT:
        put(g, s);
        return 1;
    default:
        answer(g, s);
        return 1;
    }
}

/* --------------------------------------------------------------------- the game */

/* Another tab with the page's id: it gets nothing, and what it does changes nothing. */
static void a_stranger_polls(game_t *g)
{
    vault_take_t take = {pick(g, 2) ? g->seq : g->seq + 1000, {5000, 5000}, NULL, NOW, NOW};
    vault_ticket_t ticket;

    if (g->tab && g->seq) { /* the browser has said its tab before the first answer came */
        apr_status_t rv = vault_page_take(g->pages, &g->page, &take, &ticket);
        g->touched += rv != APR_EMISMATCH && rv != APR_NOTFOUND;
    }
}

/* A form of the page's own, say. */
static void somebody_writes(game_t *g)
{
    apr_array_header_t *list = apr_array_make(g->pool, 1, sizeof(vault_property_t));
    vault_property_t *p = apr_array_push(list);
    vault_write_t write = {list, NULL, 0, NULL};
    apr_status_t rv;

    p->key = "outside";
    p->value = apr_itoa(g->pool, (int)g->property + 1);
    rv = vault_page_write(g->pages, &g->page, NULL, &write, g->pool);
    if (rv == APR_SUCCESS) {
        g->property++;
    }
    g->touched += rv != APR_SUCCESS && rv != APR_NOTFOUND;
}

static void something_goes_wrong(game_t *g)
{
    switch (pick(g, 12)) {
    case 0:
    case 1:
    case 2:
        g->connection = 0; /* the connection breaks: whatever comes on it is lost */
        break;
    case 3:
    case 4:
    case 5:
        send_poll(g, pick(g, 2) ? g->seq : g->before, 0); /* one that comes late, of which nobody hears */
        break;
    case 6:
    case 7:
        a_stranger_polls(g);
        break;
    case 8:
    case 9:
        browser_acknowledges(g);
        break;
    case 10:
        die(g, &g->server[pick(g, SERVERS)]);
        break;
    default:
        if (chance(g, 20)) {
            vault_page_drop(g->pages, &g->page);
        }
    }
}

static void move(game_t *g)
{
    unsigned dice = pick(g, 100);

    g->dozes -= g->dozes > 0;
    if (dice < 80) {
        serve(g, &g->server[pick(g, SERVERS)]);
    }
    else if (dice < 82) {
        write_row(g, (int)pick(g, TABLES));
    }
    else if (dice < 85) {
        announce(g, (int)pick(g, TABLES));
    }
    else if (dice < 86) {
        somebody_writes(g);
    }
    else if (dice >= 86 + g->noise) {
        if (!g->connection && !g->dozes) {
            browser_polls(g);
        }
    }
    else {
        something_goes_wrong(g);
    }
}

/* Nothing is lost any more. @return 0 when it never comes to rest */
static int come_to_rest(game_t *g)
{
    int idle = 0, moves = 0, i;

    g->quiet = 1;
    for (i = 0; i < TABLES; i++) {
        if (g->unannounced[i]) { /* once is enough */
            announce(g, i);
        }
    }
    while (idle < 400 && moves++ < 100000) { /* so often nothing moved: nothing can */
        int moved = serve(g, &g->server[pick(g, SERVERS)]);
        if (!g->connection) {
            browser_polls(g);
            moved = 1;
        }
        idle = moved ? 0 : idle + 1;
    }
    return idle >= 400;
}

static void game_begin(game_t *g, unsigned seed)
{
    int i;

    memset(g, 0, sizeof(*g));
    pages_begin(&g->f, &g->pages, 4, 512 * 1024);
    g->pool = g->f.pool;
    g->seed = seed;
    g->noise = 1 + seed % 8;
    g->next_pid = 1000;
    for (i = 0; i < SERVERS; i++) {
        g->server[i].pid = g->next_pid++;
        apr_pool_create(&g->server[i].pool, g->pool);
        CU_ASSERT_FATAL(vault_slot_claim(g->f.notifier, g->server[i].pid, &g->server[i].slot) == APR_SUCCESS);
    }
    browser_loads(g);
}

static int shows_all(const game_t *g)
{
    int m, t, all = 1;

    for (m = 0; m < METHODS; m++) {
        for (t = 0; t < TABLES; t++) {
            all &= !reads[m][t] || (g->shown.rows[m][t] & g->data[t]) == g->data[t];
        }
    }
    return all;
}

/* A page at rest is not forgotten: one more row reaches it. */
static int hears_of_one_more(game_t *g)
{
    int t;

    for (t = 0; t < TABLES; t++) {
        g->data[t] |= APR_UINT64_C(1) << 63;
        g->unannounced[t] = 1;
    }
    return come_to_rest(g) && shows_all(g);
}

/* At rest the feed has heard of the latest round that counted; those before it may have been lost with a server. */
static int has_told_all(const game_t *g)
{
    return (!g->shown_round || g->round[g->shown_round].told) && (!g->last_quiet || g->round[g->last_quiet].told);
}

/* At rest a page holds what its states name: its own interest and the tables'. */
static void game_end(game_t *g)
{
    vault_page_drop(g->pages, &g->page);
    CU_ASSERT_EQUAL(vault_pages_count(g->pages), 0);
    CU_ASSERT_EQUAL(vault_interest_count(g->f.notifier), 0);
    CU_ASSERT_EQUAL(vault_heap_used(g->f.heap), 0);
    CHECK_PAGES(&g->f, g->pages);
    fixture_end(&g->f);
}

static void what_is_committed_is_shown_once(void)
{
    static game_t g;
    unsigned seed, k, lost = 0, restless = 0, doubled = 0, wrong = 0, shows = 0, expired = 0, untold = 0, rare[5] = {0};

    for (seed = 1; seed <= GAMES; seed++) {
        game_begin(&g, seed);
        for (k = 0; k < MOVES; k++) {
            move(&g);
        }
        restless += !come_to_rest(&g);
        lost += !hears_of_one_more(&g);
        if (!shows_all(&g)) {
            printf("\n    game %u: something is lost", seed);
            lost++;
        }
        if (g.doubled) {
            printf("\n    game %u: something was shown twice", seed);
            doubled++;
        }
        untold += !has_told_all(&g);
        wrong += g.reused + g.touched + g.unpublished + g.mistold + g.forgotten;
        shows += g.shows;
        expired += g.expired;
        rare[0] += g.redelivered;
        rare[1] += g.overtaken;
        rare[2] += g.failures;
        rare[3] += g.aside;
        rare[4] += g.discarded;
        game_end(&g);
    }
    CU_ASSERT_EQUAL(lost, 0);
    CU_ASSERT_EQUAL(doubled, 0);
    CU_ASSERT_EQUAL(restless, 0);
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(untold, 0);
    CU_ASSERT(shows > GAMES * 3); /* else the games say nothing */
    CU_ASSERT(expired > GAMES / 20);
    for (k = 0; k < 5; k++) {
        CU_ASSERT(rare[k] > GAMES / 2);
    }
}

void vault_page_model_suite(void)
{
    CU_pSuite suite = CU_add_suite("page_model", NULL, NULL);

    CU_ADD_TEST(suite, what_is_committed_is_shown_once);
}
