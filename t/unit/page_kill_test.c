/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of pages whose users are killed at no point in particular: those who live go on, and what was lost is
 * little. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apr_strings.h"

#include "page_fixture.h"
#include "unit.h"

#define KILLS 300
#define SHARED 4 /* pages that all processes use */
#define MOST 24
#define HEAP (8 * 1024 * 1024)
#define LOST 8192 /* bytes, with a process that is killed: two states */

#define LOAD(place) __atomic_load_n(&(place), __ATOMIC_SEQ_CST)
#define STORE(place, value) __atomic_store_n(&(place), (value), __ATOMIC_SEQ_CST)

/* In the segment. */
typedef struct field_t {
    fixture_t *f;
    vault_pages_t *pages;
    vault_page_t page[SHARED]; /* made by the parent; dropped by any process */
    apr_uint64_t steps;        /* atomic */
} field_t;

/* A round on a page: a poll with the smallest number that counts, which stages or commits. */
static void poll_once(field_t *x, const vault_page_t *page, apr_pool_t *pool, unsigned *seed)
{
    vault_take_t take = {0, {0, 0}, {0}, NOW, NOW};
    vault_ticket_t t;
    vault_state_t *base;
    vault_page_txn_t *txn;
    apr_uint64_t seq = 0;
    apr_status_t rv;
    int i;

    do {
        take.seq = seq++;
        rv = vault_page_take(x->pages, page, &take, &t);
    } while (rv == APR_EMISMATCH && seq < 4000);
    if (rv != APR_SUCCESS || vault_page_read_base(x->pages, &t, &base, pool) != APR_SUCCESS) {
        return;
    }
    txn = vault_page_txn_create(x->pages, page, base, pool);
    vault_page_txn_begin(txn, "/m");
    for (i = 0; i < 4; i++) {
        vault_page_txn_create_interest(txn, "c", apr_psprintf(pool, "i-%d", rand_r(seed) % 12));
    }
    vault_page_txn_set(txn, "p", apr_psprintf(pool, "%*d", 1 + rand_r(seed) % 3000, 7));
    vault_page_txn_end(txn, 1);
    (rand_r(seed) % 3 ? vault_page_stage : vault_page_commit)(x->pages, &t, vault_page_txn_state(txn));
}

/* A page of one's own, from its making to its end. */
static void live_once(field_t *x, apr_pool_t *pool, unsigned *seed)
{
    vault_page_t page;

    if (vault_page_create(x->pages, &page, &(vault_owner_t){.user = "owner", .client = 7}, NOW, IDLE) != APR_SUCCESS) {
        return;
    }
    vault_page_publish(x->pages, &page, page_state(pool, "", 0, 0));
    poll_once(x, &page, pool, seed);
    vault_page_drop(x->pages, &page);
}

static void work(field_t *x, apr_pool_t *pool, unsigned *seed)
{
    if (rand_r(seed) % 3) {
        poll_once(x, &x->page[rand_r(seed) % SHARED], pool, seed);
    }
    else {
        live_once(x, pool, seed);
    }
    apr_pool_clear(pool);
    __atomic_add_fetch(&x->steps, 1, __ATOMIC_SEQ_CST);
}

static void work_for_ever(void *baton)
{
    field_t *x = baton;
    unsigned seed = (unsigned)getpid();
    apr_pool_t *pool;

    if (apr_pool_create(&pool, NULL) != APR_SUCCESS) {
        _exit(1);
    }
    fixture_ready();
    for (;;) {
        work(x, pool, &seed);
    }
}

static void renew(field_t *x, int i)
{
    vault_page_drop(x->pages, &x->page[i]);
    CU_ASSERT_FATAL(vault_page_create(x->pages, &x->page[i], NULL, NOW, IDLE) == APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_page_publish(x->pages, &x->page[i], page_state(x->f->pool, "", 0, 0)), APR_SUCCESS);
}

/* Kill one of two, while the other and this process go on; then the other. */
static void kill_two(field_t *x, apr_pool_t *pool, unsigned watcher, unsigned *seed)
{
    apr_uint64_t until = LOAD(x->steps) + 4 + (apr_uint64_t)rand_r(seed) % 24, before;
    pid_t one = fixture_fork(work_for_ever, x), two = fixture_fork(work_for_ever, x);
    vault_notifier_t *n = x->f->notifier;
    vault_interest_t watched;
    unsigned slot, i;

    CU_ASSERT_EQUAL(vault_slot_claim(n, one, &slot), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_slot_claim(n, two, &slot), APR_SUCCESS);
    CU_ASSERT_FATAL(vault_interest_hold(n, "watched", &watched, &before) == APR_SUCCESS);
    while (LOAD(x->steps) < until) {
        work(x, pool, seed);
    }
    fixture_kill(one);
    CU_ASSERT_EQUAL(vault_slot_exited(n, one, &slot), 1);
    CU_ASSERT(fixture_rung(x->f, watcher)); /* everybody was told */
    CU_ASSERT(vault_interest_stamp(n, watched) > before);
    vault_interest_release(n, watched);
    for (i = 0; i < 4; i++) {
        work(x, pool, seed);
    }
    fixture_kill(two);
    CU_ASSERT_EQUAL(vault_slot_exited(n, two, &slot), 1);
}

/* Take each lock, so that what the dead left is mended, and look for halves of pages. */
static void recover(field_t *x, apr_pool_t *pool, unsigned *seed)
{
    int i;

    for (i = 0; i < SHARED; i++) {
        if (i == 0 || rand_r(seed) % 4 == 0) { /* at least one, for the lock of the table */
            renew(x, i);
        }
        poll_once(x, &x->page[i], pool, seed);
    }
    vault_pages_sweep(x->pages, NOW + IDLE * 2, IDLE * 10);
    apr_pool_clear(pool);
}

/* What a killed process was handling is lost: a record, a hold of an interest, a few blocks, which are counted.
 * Nothing may be given back twice or be in two places. */
static void who_is_killed_stops_nobody(void)
{
    fixture_t f;
    vault_pages_t *pages;
    field_t *x;
    apr_pool_t *pool;
    unsigned seed = 5, watcher = 0;
    int i, k;

    pages_begin(&f, &pages, MOST + KILLS, HEAP);
    x = fixture_shared(&f, sizeof(*x));
    x->f = &f;
    x->pages = pages;
    CU_ASSERT_FATAL(apr_pool_create(&pool, f.pool) == APR_SUCCESS);
    CU_ASSERT_FATAL(vault_slot_claim(f.notifier, getpid(), &watcher) == APR_SUCCESS);
    for (i = 0; i < SHARED; i++) {
        renew(x, i);
    }
    for (k = 0; k < KILLS; k++) {
        kill_two(x, pool, watcher, &seed);
        recover(x, pool, &seed);
        CHECK_PAGES(&f, pages);
    }
    for (i = 0; i < SHARED; i++) {
        vault_page_drop(pages, &x->page[i]);
    }
    vault_pages_sweep(pages, NOW + IDLE * 20, IDLE);
    CHECK_PAGES(&f, pages);
    vault_pages_count_lost(pages);
    CU_ASSERT_EQUAL(vault_heap_used(f.heap), vault_pages_lost(pages));
    CU_ASSERT(vault_pages_lost(pages) <= 2 * KILLS * LOST);
    CU_ASSERT(vault_interest_count(f.notifier) <= 2 * KILLS);
    CU_ASSERT(vault_pages_count(pages) <= 2 * KILLS);
    fixture_end(&f);
}

/* --------------------------------------------------------------------- leases */

#define CHILD 4000 /* no process of ours: nothing asks the system whether it lives */

/* What becomes of the child whose poll a page has. */
static void it_lives(fixture_t *f)
{
    (void)f;
}

static void it_dies(fixture_t *f)
{
    unsigned slot;

    CU_ASSERT_EQUAL(vault_slot_exited(f->notifier, CHILD, &slot), 1);
}

static void it_leaves(fixture_t *f)
{
    unsigned slot;

    vault_slot_leave(f->notifier, 1);
    CU_ASSERT_EQUAL(vault_slot_exited(f->notifier, CHILD, &slot), 0);
}

static void another_has_its_slot(fixture_t *f)
{
    unsigned slot;

    it_dies(f);
    CU_ASSERT_EQUAL(vault_slot_claim(f->notifier, CHILD + 1, &slot), APR_SUCCESS);
    CU_ASSERT_EQUAL(slot, 1);
}

static void another_dies(fixture_t *f)
{
    unsigned slot;

    CU_ASSERT_EQUAL(vault_slot_claim(f->notifier, CHILD + 1, &slot), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_slot_exited(f->notifier, CHILD + 1, &slot), 1);
}

/* A page is polled until its poll's deadline, which is long after, or until the child is gone that has the poll. */
static void a_poll_ends_with_its_child(void)
{
    static const struct {
        int has_slot;
        void (*becomes)(fixture_t *f);
        int orphaned;
        const char *why;
    } rows[] = {
        {1, it_lives, 0, "its child waits"},
        {1, it_dies, 1, "its child was killed"},
        {1, it_leaves, 1, "its child left, and forgot it"},
        {1, another_has_its_slot, 1, "its child was killed, and there is another in its place"},
        {1, another_dies, 0, "another child was killed"},
        {0, it_dies, 0, "a child without a slot answers at once, so the deadline is near"},
    };
    const apr_time_t died = NOW + apr_time_from_sec(5), deadline = NOW + IDLE * 10;
    const vault_take_t take = {0, {0, 0}, {0}, NOW, deadline};
    unsigned i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        fixture_t f;
        vault_pages_t *pages;
        vault_page_t page, more;
        vault_ticket_t ticket;
        unsigned slot;

        pages_begin(&f, &pages, 1, HEAP);
        CU_ASSERT_FATAL(vault_slot_claim(f.notifier, CHILD, &slot) == APR_SUCCESS);
        vault_pages_set_slot(pages, rows[i].has_slot ? slot : 0);
        page = page_publish(pages, f.pool);
        CU_ASSERT_EQUAL(vault_page_take(pages, &page, &take, &ticket), APR_SUCCESS);
        rows[i].becomes(&f);
        CHECK_ROW(vault_pages_sweep(pages, died, 0) == 0, rows[i].why);
        CHECK_ROW(vault_page_create(pages, &more, NULL, died + VAULT_PAGE_EVICTABLE, IDLE) == APR_ENOSPC,
                  "its browser may come again");
        CHECK_ROW(vault_page_create(pages, &more, NULL, died + VAULT_PAGE_EVICTABLE + 1, IDLE) ==
                      (rows[i].orphaned ? APR_SUCCESS : APR_ENOSPC),
                  rows[i].why);
        CHECK_PAGES(&f, pages);
        fixture_end(&f);
    }
}

/* The next poll is of another child; the dead one's lease does not end it. */
static void a_poll_taken_over_has_a_lease_of_its_own(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page;
    vault_ticket_t ticket;
    const vault_take_t take = {0, {0, 0}, {0}, NOW, NOW + IDLE * 10};
    unsigned slot;

    pages_begin(&f, &pages, 1, HEAP);
    page = page_publish(pages, f.pool);
    CU_ASSERT_FATAL(vault_slot_claim(f.notifier, CHILD, &slot) == APR_SUCCESS);
    vault_pages_set_slot(pages, slot);
    CU_ASSERT_EQUAL(vault_page_take(pages, &page, &take, &ticket), APR_SUCCESS);
    CU_ASSERT_FATAL(vault_slot_claim(f.notifier, CHILD + 1, &slot) == APR_SUCCESS);
    vault_pages_set_slot(pages, slot);
    CU_ASSERT_EQUAL(vault_page_take(pages, &page, &take, &ticket), APR_SUCCESS);
    it_dies(&f);
    vault_pages_sweep(pages, NOW, IDLE);
    CU_ASSERT_EQUAL(vault_pages_sweep(pages, NOW + IDLE * 9, IDLE), 0);
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

void vault_page_kill_suite(void)
{
    CU_pSuite suite = CU_add_suite("page_kill", NULL, NULL);

    CU_ADD_TEST(suite, who_is_killed_stops_nobody);
    CU_ADD_TEST(suite, a_poll_ends_with_its_child);
    CU_ADD_TEST(suite, a_poll_taken_over_has_a_lease_of_its_own);
}
