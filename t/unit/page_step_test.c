/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of pages whose user is killed at a chosen instruction: it is stepped so far into a call, and killed there. */
#include <string.h>

#include "page/page_snapshot.h"
#include "page/session.h"
#include "page_fixture.h"
#include "unit.h"

#define HEAP (512 * 1024)
#define STEPS 100000 /* at most, in one test */
#define LOST 2048    /* bytes, at most, with a process that is killed: it rewrites three states */
#define CHILD 4000   /* what the parent takes the process for */

/* What the process does before it is killed; all prepared before the fork. */
typedef struct call_t {
    vault_pages_t *pages;
    vault_page_t page;
    vault_ticket_t ticket;
    vault_state_t *next, *html;
    vault_interest_t x, y;
    vault_calls_t calls;  /* the run that is open */
    vault_state_t *added; /* what a call adds to it */
    apr_array_header_t *outside;
    vault_page_t session; /* of a visitor who has not logged in */
    vault_visitor_t ann;
    vault_page_snapshot_t snapshot; /* of the page */
    apr_pool_t *pool;
} call_t;

static void acknowledge_newest(call_t *c)
{
    vault_take_t take = {2, {0, 0}, {0}, NOW, NOW};

    vault_page_take(c->pages, &c->page, &take, &c->ticket);
}

static void acknowledge_older(call_t *c)
{
    vault_take_t take = {1, {0, 0}, {0}, NOW, NOW};

    page_acknowledge(c->pages, &c->page, &take);
}

static void stage_third(call_t *c)
{
    vault_page_stage(c->pages, &c->ticket, c->next);
}

static void commit_quietly(call_t *c)
{
    vault_page_commit(c->pages, &c->ticket, c->next);
}

static void write_from_outside(call_t *c)
{
    vault_write_t write = {c->outside, "/another", 2, NULL};

    vault_page_write(c->pages, &c->page, NULL, &write, c->pool);
}

static void drop(call_t *c)
{
    vault_page_drop(c->pages, &c->page);
}

static void hold_many(call_t *c)
{
    static const char *const name[] = {"1", "2", "3", "4", "5", "6", "7", "8", "9"};
    vault_interest_t interest;
    apr_uint64_t stamp;
    unsigned i;

    for (i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
        vault_page_hold(c->pages, &c->page, name[i], &interest, &stamp);
    }
}

static void add_a_call(call_t *c)
{
    vault_interest_t interest;
    apr_uint64_t stamp;

    vault_page_calls_hold(c->pages, &c->calls, "w", &interest, &stamp);
    vault_page_calls_add(c->pages, &c->calls, c->added, c->pool);
}

static void close_the_run(call_t *c)
{
    vault_state_t *made;

    vault_page_calls_close(c->pages, &c->calls, &made, c->pool);
}

static void open_another_run(call_t *c)
{
    vault_page_calls_open(c->pages, &c->calls, &c->ticket, 0);
}

static void publish_new(call_t *c)
{
    vault_page_t page;

    if (vault_page_create(c->pages, &page, &(vault_owner_t){.user = "ann", .client = 7}, NOW, IDLE) == APR_SUCCESS) {
        vault_page_publish(c->pages, &page, c->html);
    }
}

/* As another server had it: with one of the answers that are staged here. */
static void restore_page(call_t *c)
{
    vault_page_restore_t restore = {.snapshot = &c->snapshot, .copy = {.fence = 1000}, .now = NOW, .idle = IDLE};

    vault_page_snapshot_restore(c->pages, &c->page, &restore);
}

static void make_session(call_t *c)
{
    vault_page_t session;

    vault_session_create(c->pages, &session, &c->ann, c->outside, IDLE, c->pool);
}

static void log_in(call_t *c)
{
    vault_session_login(c->pages, &c->session, &c->ann);
}

static void write_session(call_t *c)
{
    vault_session_write(c->pages, &c->session, &c->ann, c->outside, c->pool);
}

/* The sessions that there are expire with their pages. */
static void prepare_session(fixture_t *f, call_t *c)
{
    vault_visitor_t visitor = {.timeout = IDLE, .now = NOW};

    CU_ASSERT_FATAL(vault_session_create(c->pages, &c->session, &visitor,
                                         apr_array_make(f->pool, 1, sizeof(vault_property_t)), IDLE,
                                         f->pool) == APR_SUCCESS);
    c->ann = visitor;
    c->ann.owner.user = "ann";
}

/* A page with a base that names x, two staged answers that name x and y, and holds that no state names. */
static void prepare(fixture_t *f, call_t *c)
{
    vault_interest_t interest;
    apr_uint64_t stamp;
    unsigned slot;

    CU_ASSERT_FATAL(vault_slot_claim(f->notifier, CHILD, &slot) == APR_SUCCESS);
    CU_ASSERT_FATAL(vault_page_create(c->pages, &c->page, NULL, NOW, IDLE) == APR_SUCCESS);
    vault_page_hold(c->pages, &c->page, "x", &c->x, &stamp);
    vault_page_publish(c->pages, &c->page, page_state(f->pool, "0", c->x, stamp));
    page_poll(c->pages, &c->page, 0, 0, &c->ticket);
    vault_page_hold(c->pages, &c->page, "y", &c->y, &stamp);
    vault_page_stage(c->pages, &c->ticket, page_state(f->pool, "1", c->x, stamp));
    vault_page_hold(c->pages, &c->page, "y", &c->y, &stamp);
    vault_page_stage(c->pages, &c->ticket, page_state(f->pool, "2", c->y, stamp));
    vault_page_hold(c->pages, &c->page, "u", &interest, &stamp);
    vault_page_hold(c->pages, &c->page, "v", &interest, &stamp);
    c->next = page_state(f->pool, "next", c->y, stamp);
    c->outside = c->next->properties;
    prepare_session(f, c);
    c->pool = f->pool;
    c->html = page_state(f->pool, "0", 0, 0);
    c->calls.key = 1;
    CU_ASSERT_FATAL(vault_page_calls_open(c->pages, &c->calls, &c->ticket, 0) == APR_SUCCESS);
    CU_ASSERT_FATAL(vault_page_snapshot_take(c->pages, &c->page, 1, &(vault_page_copy_t){0}, &c->snapshot, f->pool) ==
                    APR_SUCCESS);
    c->snapshot.count = 2;
    c->added = page_state(f->pool, "=more", c->y, stamp);
    CU_ASSERT_FATAL(vault_page_calls_add(c->pages, &c->calls, c->added, f->pool) == APR_SUCCESS);
}

typedef struct stepped_t {
    call_t *call;
    void (*run)(call_t *);
} stepped_t;

static void run_stepped(void *baton)
{
    stepped_t *stepped = baton;

    stepped->run(stepped->call);
}

static long step(call_t *c, void (*call)(call_t *), long instructions)
{
    return fixture_step(run_stepped, &(stepped_t){c, call}, instructions);
}

/* The session has its old id or another one, and a whole state, or is gone. */
static void check_session(fixture_t *f, call_t *c)
{
    vault_page_t session = c->session;
    apr_array_header_t *properties;
    vault_session_t found;

    c->ann.now = NOW;
    if (vault_session_find(c->pages, &session, &c->ann, &found) == APR_SUCCESS) {
        CU_ASSERT_EQUAL(vault_session_read(c->pages, &session, &c->ann, &properties, f->pool), APR_SUCCESS);
        CU_ASSERT(properties->nelts <= 1);
        CU_ASSERT_EQUAL(vault_session_write(c->pages, &session, &c->ann, c->outside, f->pool), APR_SUCCESS);
    }
}

/* Whatever was done or not, the page has a whole state and goes on, and what it holds it gives back once. */
static void go_on(fixture_t *f, call_t *c)
{
    vault_page_t another = page_publish(c->pages, f->pool); /* takes the table's lock */
    unsigned slot;
    vault_ticket_t t;
    apr_uint64_t seq = 0;
    apr_status_t rv;

    vault_page_drop(c->pages, &another);
    CU_ASSERT_EQUAL(vault_slot_exited(f->notifier, CHILD, &slot), 1);
    vault_pages_sweep(c->pages, NOW, IDLE);
    vault_pages_count_lost(c->pages);
    check_session(f, c);
    do {
        rv = page_poll(c->pages, &c->page, seq++, 0, &t);
    } while (rv == APR_EMISMATCH && seq < 5);
    if (rv == APR_SUCCESS) {
        CU_ASSERT(strchr("012n", page_mark(c->pages, &t, f->pool)[0]) != NULL);
        CU_ASSERT_EQUAL(vault_page_stage(c->pages, &t, page_state(f->pool, "3", 0, 0)), APR_SUCCESS);
        CHECK_PAGES(f, c->pages);
    }
    vault_page_drop(c->pages, &c->page);
    vault_pages_sweep(c->pages, NOW + IDLE * 10, IDLE);
    CHECK_PAGES(f, c->pages);
}

/* Another page holds x and y all the time: a hold given back twice would be one of its. */
static void killed_within(void (*call)(call_t *))
{
    fixture_t f;
    call_t c;
    vault_page_t other;
    vault_take_t take = {0, {0, 0}, {0}, NOW, NOW + IDLE * 100};
    vault_ticket_t ticket;
    vault_interest_t x, y;
    apr_uint64_t stamp, used, before;
    long total, points, i;

    pages_begin(&f, &c.pages, 30000, HEAP);
    prepare(&f, &c);
    total = step(&c, call, FIXTURE_STEPS_MOST);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    CU_ASSERT(total < FIXTURE_STEPS_MOST);
#endif
    go_on(&f, &c);
    if (total == 0) {
        printf("\n    not allowed to trace a process: skipped ");
        fixture_end(&f);
        return;
    }
    other = page_publish(c.pages, f.pool);
    vault_page_hold(c.pages, &other, "x", &x, &stamp);
    vault_page_hold(c.pages, &other, "y", &y, &stamp);
    used = vault_heap_used(f.heap) - vault_pages_lost(c.pages);
    points = fixture_step_points(total, STEPS);
    for (i = 0; i < points; i++) {
        before = vault_pages_lost(c.pages);
        prepare(&f, &c);
        step(&c, call, (2 * i + 1) * total / (2 * points));
        vault_page_take(c.pages, &other, &take, &ticket);
        go_on(&f, &c);
        CU_ASSERT_EQUAL(vault_heap_used(f.heap), used + vault_pages_lost(c.pages));
        CU_ASSERT(vault_pages_lost(c.pages) <= before + LOST);
        /* There is the other's own, x and y, and at most one for each killed process, that of the first call
         * included. */
        CU_ASSERT(vault_interest_count(f.notifier) <= 3 + 2 + i);
        CU_ASSERT(vault_sessions_count(c.pages) <= (apr_uint32_t)i + 2); /* the same of records */
        CU_ASSERT(vault_interest_holders(f.notifier, x) >= 1 && vault_interest_holders(f.notifier, y) >= 1);
    }
    CU_ASSERT_EQUAL(vault_notifier_notify(f.notifier, "x", 0), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_notifier_notify(f.notifier, "y", 0), APR_SUCCESS);
    vault_page_drop(c.pages, &other);
    CHECK_PAGES(&f, c.pages);
    fixture_end(&f);
}

#define STEP_TEST(name, call)                                                                                          \
    static void name(void)                                                                                             \
    {                                                                                                                  \
        killed_within(call);                                                                                           \
    }

STEP_TEST(killed_while_the_newest_answer_is_committed, acknowledge_newest)
STEP_TEST(killed_while_the_older_answer_is_committed, acknowledge_older)
STEP_TEST(killed_while_it_stages, stage_third)
STEP_TEST(killed_while_it_commits, commit_quietly)
STEP_TEST(killed_while_it_writes_from_outside, write_from_outside)
STEP_TEST(killed_while_it_drops, drop)
STEP_TEST(killed_while_it_holds, hold_many)
STEP_TEST(killed_while_a_call_is_added, add_a_call)
STEP_TEST(killed_while_it_closes_the_run, close_the_run)
STEP_TEST(killed_while_it_opens_another, open_another_run)
STEP_TEST(killed_while_it_makes_a_page, publish_new)
STEP_TEST(killed_while_it_restores_a_page, restore_page)
STEP_TEST(killed_while_it_makes_a_session, make_session)
STEP_TEST(killed_while_a_visitor_logs_in, log_in)
STEP_TEST(killed_while_it_writes_to_a_session, write_session)

void vault_page_step_suite(void)
{
    CU_pSuite suite = CU_add_suite("page_step", NULL, NULL);

    CU_ADD_TEST(suite, killed_while_the_newest_answer_is_committed);
    CU_ADD_TEST(suite, killed_while_the_older_answer_is_committed);
    CU_ADD_TEST(suite, killed_while_it_stages);
    CU_ADD_TEST(suite, killed_while_it_commits);
    CU_ADD_TEST(suite, killed_while_it_writes_from_outside);
    CU_ADD_TEST(suite, killed_while_it_drops);
    CU_ADD_TEST(suite, killed_while_it_holds);
    CU_ADD_TEST(suite, killed_while_a_call_is_added);
    CU_ADD_TEST(suite, killed_while_it_closes_the_run);
    CU_ADD_TEST(suite, killed_while_it_opens_another);
    CU_ADD_TEST(suite, killed_while_it_makes_a_page);
    CU_ADD_TEST(suite, killed_while_it_restores_a_page);
    CU_ADD_TEST(suite, killed_while_it_makes_a_session);
    CU_ADD_TEST(suite, killed_while_a_visitor_logs_in);
    CU_ADD_TEST(suite, killed_while_it_writes_to_a_session);
}
