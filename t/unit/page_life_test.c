/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what pages hold, how long they live, who is told, and what happens when there is no room. */
#include <string.h>

#include "apr_strings.h"

#include "mod_vault/vault.h"
#include "page/page_record.h"
#include "page_fixture.h"
#include "unit.h"

#define HEAP (1024 * 1024)
#define SECONDS(n) apr_time_from_sec(n)

static vault_interest_t page_hold(vault_pages_t *pages, const vault_page_t *page, const char *name)
{
    vault_interest_t interest = 0;
    apr_uint64_t stamp;

    CU_ASSERT_EQUAL(vault_page_hold(pages, page, name, &interest, &stamp), APR_SUCCESS);
    return interest;
}

static int is_held(fixture_t *f, const char *name)
{
    return vault_notifier_notify(f->notifier, name, 0) == APR_SUCCESS;
}

/* --------------------------------------------------------------------- holds */

/* Held by name of x and y after each step. An interest is held while the base, a staged state or the run names it. */
static void an_interest_is_held_while_a_state_names_it(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page;
    vault_ticket_t t;
    vault_interest_t x, y;
    apr_pool_t *p;

    pages_begin(&f, &pages, 3, HEAP);
    p = f.pool;
    CU_ASSERT_EQUAL(vault_page_create(pages, &page, NULL, NOW, IDLE), APR_SUCCESS);
    x = page_hold(pages, &page, "x");
    y = page_hold(pages, &page, "y");
    CU_ASSERT_EQUAL(page_hold(pages, &page, "x"), x);
    CU_ASSERT_EQUAL(vault_interest_count(f.notifier), 3);
    CU_ASSERT_EQUAL(vault_page_publish(pages, &page, page_state(p, "0", x, 1)), APR_SUCCESS);
    CU_ASSERT(is_held(&f, "x") && !is_held(&f, "y")); /* no state came to name y */
    page_poll(pages, &page, 0, 0, &t);
    y = page_hold(pages, &page, "y");
    CU_ASSERT_EQUAL(vault_page_stage(pages, &t, page_state(p, "1", y, 1)), APR_SUCCESS);
    CU_ASSERT(is_held(&f, "x") && is_held(&f, "y")); /* base x, staged y */
    page_poll(pages, &page, 0, 0, &t);
    CU_ASSERT_EQUAL(vault_page_stage(pages, &t, page_state(p, "2", 0, 0)), APR_SUCCESS);
    CU_ASSERT(is_held(&f, "x") && is_held(&f, "y")); /* base x, staged none, older y */
    page_poll(pages, &page, 0, 0, &t);
    CU_ASSERT_EQUAL(vault_page_stage(pages, &t, page_state(p, "3", 0, 0)), APR_SUCCESS);
    CU_ASSERT(is_held(&f, "x") && !is_held(&f, "y")); /* the older one is forgotten */
    y = page_hold(pages, &page, "y");
    CU_ASSERT_EQUAL(vault_page_commit(pages, &t, page_state(p, "0", y, 1)), APR_SUCCESS);
    CU_ASSERT(!is_held(&f, "x") && is_held(&f, "y"));
    page_poll(pages, &page, 3, 0, &t);
    CU_ASSERT(!is_held(&f, "x") && !is_held(&f, "y"));
    CU_ASSERT_EQUAL(vault_interest_count(f.notifier), 1);
    pages_end(&f, pages, &page);
}

/* What the running poll holds is in no state yet; an acknowledgement that comes by the side must not let it go
 * under its feet. */
static void what_a_run_holds_is_held_until_it_ends(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page;
    vault_ticket_t t;
    vault_interest_t y;
    vault_take_t take = {1, {0, 0}, {0}, NOW, NOW};

    pages_begin(&f, &pages, 3, HEAP);
    page = page_publish(pages, f.pool);
    page_poll(pages, &page, 0, 0, &t);
    CU_ASSERT_EQUAL(vault_page_stage(pages, &t, page_state(f.pool, "1", 0, 0)), APR_SUCCESS);
    page_poll(pages, &page, 0, 0, &t);
    y = page_hold(pages, &page, "y");
    CU_ASSERT_EQUAL(page_acknowledge(pages, &page, &take), APR_SUCCESS);
    if (vault_page_stage(pages, &t, page_state(f.pool, "2", y, 1)) == APR_SUCCESS) {
        CU_ASSERT(is_held(&f, "y"));
    }
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

static void a_page_may_hold_so_many_and_no_more(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page;
    vault_interest_t interest;
    apr_uint64_t stamp;
    vault_ticket_t t;
    int i;

    pages_begin(&f, &pages, 3, HEAP);
    page = page_publish(pages, f.pool);
    for (i = 0; i < VAULT_PAGE_INTERESTS; i++) {
        page_hold(pages, &page, apr_psprintf(f.pool, "i-%d", i));
    }
    CU_ASSERT_EQUAL(vault_page_hold(pages, &page, "one more", &interest, &stamp), APR_ENOSPC);
    CU_ASSERT(!is_held(&f, "one more"));
    vault_pages_set_limits(pages, &(vault_page_limits_t){.interests = 7}); /* what it holds it keeps */
    CU_ASSERT_EQUAL(vault_page_hold(pages, &page, "one more", &interest, &stamp), APR_ENOSPC);
    vault_pages_set_limits(pages, &(vault_page_limits_t){.interests = VAULT_PAGE_INTERESTS + 1});
    CU_ASSERT_EQUAL(vault_page_hold(pages, &page, "i-more", &interest, &stamp), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_page_hold(pages, &page, "one more", &interest, &stamp), APR_ENOSPC);
    page_hold(pages, &page, "i-7"); /* is no new one */
    CU_ASSERT_EQUAL(vault_interest_count(f.notifier), VAULT_PAGE_INTERESTS + 2);
    CU_ASSERT_EQUAL(vault_page_hold(pages, &page, "", &interest, &stamp), APR_EINVAL);
    page_poll(pages, &page, 0, 0, &t);
    CU_ASSERT_EQUAL(vault_page_commit(pages, &t, vault_state_create(f.pool)), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_interest_count(f.notifier), 1);
    page_hold(pages, &page, "one more");
    pages_end(&f, pages, &page);
}

static void two_pages_hold_one_interest(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t one, two;

    pages_begin(&f, &pages, 3, HEAP);
    one = page_publish(pages, f.pool);
    two = page_publish(pages, f.pool);
    CU_ASSERT_EQUAL(page_hold(pages, &one, "x"), page_hold(pages, &two, "x"));
    vault_page_drop(pages, &one);
    CU_ASSERT(is_held(&f, "x"));
    vault_page_drop(pages, &two);
    CU_ASSERT(!is_held(&f, "x"));
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

/* ------------------------------------------------------------- no room for it */

static const char *long_text(apr_pool_t *pool, apr_size_t length)
{
    char *s = apr_palloc(pool, length + 1);

    memset(s, 'x', length);
    s[length] = '\0';
    return s;
}

static void a_state_too_large_changes_nothing(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page;
    vault_ticket_t t;
    vault_state_t *largest, *large;

    pages_begin(&f, &pages, 3, HEAP);
    largest = page_state(f.pool, long_text(f.pool, VAULT_STATE_MAX - 200), 0, 0);
    while (vault_state_size(largest) < VAULT_STATE_MAX) {
        vault_state_set(largest, "mark", long_text(f.pool, strlen(vault_state_property(largest, "mark")->value) + 1));
    }
    large = page_state(f.pool, long_text(f.pool, strlen(vault_state_property(largest, "mark")->value) + 8), 0, 0);
    CU_ASSERT_EQUAL(vault_page_create(pages, &page, NULL, NOW, IDLE), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_page_publish(pages, &page, large), APR_ENOSPC);
    CU_ASSERT_EQUAL(vault_page_publish(pages, &page, page_state(f.pool, "0", 0, 0)), APR_SUCCESS);
    page_poll(pages, &page, 0, 0, &t);
    CU_ASSERT_EQUAL(vault_page_commit(pages, &t, large), APR_ENOSPC);
    CU_ASSERT_EQUAL(vault_page_stage(pages, &t, large), APR_ENOSPC);
    CU_ASSERT_STRING_EQUAL(page_mark(pages, &t, f.pool), "0");
    CU_ASSERT_EQUAL(vault_page_stage(pages, &t, largest), APR_SUCCESS);
    CU_ASSERT_EQUAL(largest->seq, 1); /* what failed used no number */
    page_poll(pages, &page, 1, 0, &t);
    CU_ASSERT_STRING_EQUAL(page_mark(pages, &t, f.pool), vault_state_property(largest, "mark")->value);
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

static void fill_heap(fixture_t *f, vault_off_t *blocks, unsigned *count)
{
    apr_size_t size;

    for (*count = 0, size = VAULT_HEAP_BLOCK_MAX; size >= 16; size -= size > 512 ? size / 2 : 16) {
        while (*count < 4096 && (blocks[*count] = vault_heap_alloc(f->heap, size))) {
            ++*count;
        }
    }
}

static void a_full_heap_changes_nothing(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page, other;
    vault_ticket_t t;
    vault_interest_t interest;
    apr_uint64_t stamp;
    vault_off_t *blocks;
    unsigned count;

    pages_begin(&f, &pages, 3, 64 * 1024);
    blocks = apr_palloc(f.pool, 4096 * sizeof(*blocks));
    page = page_publish(pages, f.pool);
    page_poll(pages, &page, 0, 0, &t);
    fill_heap(&f, blocks, &count);
    CU_ASSERT_EQUAL(vault_page_stage(pages, &t, page_state(f.pool, "1", 0, 0)), APR_ENOSPC);
    CU_ASSERT_EQUAL(vault_page_commit(pages, &t, page_state(f.pool, "1", 0, 0)), APR_ENOSPC);
    CU_ASSERT_EQUAL(vault_page_hold(pages, &page, "x", &interest, &stamp), APR_ENOSPC);
    CU_ASSERT(!is_held(&f, "x"));
    CU_ASSERT_EQUAL(vault_page_create(pages, &other, &(vault_owner_t){.user = "ann"}, NOW, IDLE),
                    APR_ENOSPC); /* no room for her name */
    CU_ASSERT_EQUAL(vault_pages_count(pages), 1);
    CU_ASSERT_EQUAL(vault_interest_count(f.notifier), 1);
    CHECK_PAGES(&f, pages);
    while (count) {
        vault_heap_free(f.heap, blocks[--count]);
    }
    CU_ASSERT_EQUAL(vault_page_create(pages, &other, &(vault_owner_t){.user = "ann"}, NOW, IDLE), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_page_commit(pages, &t, page_state(f.pool, "1", 0, 0)), APR_SUCCESS);
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

/* --------------------------------------------------------------- who is told */

/* The own interest of the page, armed as a waiting poll does. */
static unsigned arm(fixture_t *f, const vault_ticket_t *t)
{
    static pid_t pid = 1000;
    unsigned slot = 0;

    CU_ASSERT_EQUAL(vault_slot_claim(f->notifier, pid, &slot), APR_SUCCESS);
    vault_interest_arm(f->notifier, t->interest, slot);
    CU_ASSERT(!fixture_is_rung(f, slot));
    return slot;
}

static void disarm(fixture_t *f, unsigned slot)
{
    unsigned exited;

    vault_slot_leave(f->notifier, slot);
    vault_slot_exited(f->notifier, vault_slot_pid(f->notifier, slot), &exited);
}

static void a_waiting_poll_is_told_what_becomes_of_its_page(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page;
    vault_ticket_t t, newer;
    vault_take_t take = {1, {0, 0}, {0}, NOW, NOW};
    unsigned slot;

    pages_begin(&f, &pages, 3, HEAP);
    CU_ASSERT_EQUAL(vault_page_create(pages, &page, NULL, NOW, IDLE), APR_SUCCESS);
    page_poll(pages, &page, 0, 0, &t);
    slot = arm(&f, &t);
    CU_ASSERT_EQUAL(vault_page_publish(pages, &page, vault_state_create(f.pool)), APR_SUCCESS);
    CU_ASSERT(fixture_rung(&f, slot));
    disarm(&f, slot);
    slot = arm(&f, &t);
    page_poll(pages, &page, 0, 0, &newer);
    CU_ASSERT(fixture_rung(&f, slot)); /* it was overtaken */
    disarm(&f, slot);
    slot = arm(&f, &newer);
    CU_ASSERT_EQUAL(page_poll(pages, &page, 9, 0, &t), APR_EMISMATCH);
    CU_ASSERT(!fixture_is_rung(&f, slot)); /* a refused page wakes no other */
    CU_ASSERT_EQUAL(vault_page_stage(pages, &newer, page_state(f.pool, "1", 0, 0)), APR_SUCCESS);
    CU_ASSERT_EQUAL(page_acknowledge(pages, &page, &take), APR_SUCCESS);
    CU_ASSERT(fixture_rung(&f, slot)); /* it has no right to the page any more */
    disarm(&f, slot);
    page_poll(pages, &page, 1, 0, &t);
    slot = arm(&f, &t);
    vault_page_drop(pages, &page);
    CU_ASSERT(fixture_rung(&f, slot));
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

/* --------------------------------------------------------- expiry and eviction */

static vault_page_t made_at(vault_pages_t *pages, apr_time_t now)
{
    vault_page_t page;

    CU_ASSERT_EQUAL(vault_page_create(pages, &page, NULL, now, IDLE), APR_SUCCESS);
    return page;
}

static apr_status_t poll_until(vault_pages_t *pages, const vault_page_t *page, apr_time_t until)
{
    vault_take_t take = {0, {0, 0}, {0}, NOW, until};
    vault_ticket_t t;

    return vault_page_take(pages, page, &take, &t);
}

static vault_page_t polled_until(vault_pages_t *pages, apr_time_t until)
{
    vault_page_t page = made_at(pages, NOW);

    CU_ASSERT_EQUAL(poll_until(pages, &page, until), APR_SUCCESS);
    return page;
}

static int is_there(vault_pages_t *pages, const vault_page_t *page)
{
    vault_take_t take = {0, {0, 0}, {0}, NOW, NOW};

    return page_acknowledge(pages, page, &take) == APR_SUCCESS;
}

static void pages_expire(void)
{
    static const struct {
        int polled;
        apr_time_t until; /* made, or counts as used until */
        apr_time_t now;
        unsigned dropped;
        const char *why;
    } rows[] = {
        {0, 0, 60, 0, "never polled, a minute old"},
        {0, 0, 61, 1, "never polled, older"},
        {1, 0, 61, 0, "polled, so it may be idle for long"},
        {1, 0, 300, 0, "idle for as long as it may"},
        {1, 0, 301, 1, "idle for longer"},
        {1, 100, 400, 0, "it waited meanwhile"},
        {1, 100, 401, 1, "it waited, and was idle"},
        {1, 900, 500, 0, "it waits"},
    };
    fixture_t f;
    vault_pages_t *pages;
    unsigned i;

    pages_begin(&f, &pages, 3, HEAP);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        vault_page_t page = rows[i].polled ? polled_until(pages, NOW + SECONDS(rows[i].until)) : made_at(pages, NOW);

        CHECK_ROW(vault_pages_sweep(pages, NOW + SECONDS(rows[i].now), IDLE) == rows[i].dropped, rows[i].why);
        CHECK_ROW(is_there(pages, &page) == !rows[i].dropped, rows[i].why);
        CHECK_ROW(poll_until(pages, &page, NOW + SECONDS(1000)) == (rows[i].dropped ? APR_NOTFOUND : APR_SUCCESS),
                  rows[i].why);
        CHECK_ROW(vault_pages_sweep(pages, NOW + SECONDS(1000), IDLE) == 0, "it is polled");
        vault_page_drop(pages, &page);
    }
    CU_ASSERT_EQUAL(vault_pages_count(pages), 0);
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

static apr_status_t counted(vault_pages_t *pages, vault_page_t *page, vault_client_id_t client)
{
    return vault_page_create(pages, page, &(vault_owner_t){.client = client}, NOW, IDLE);
}

static void a_client_has_so_many_pages_and_no_more(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t first, second, third, next;

    pages_begin(&f, &pages, 20, HEAP);
    vault_pages_set_limits(pages, &(vault_page_limits_t){.interests = 8, .of_client = {[VAULT_CLIENT_PAGES] = 2}});
    CU_ASSERT_EQUAL(counted(pages, &first, 7), APR_SUCCESS);
    CU_ASSERT_EQUAL(counted(pages, &second, 7), APR_SUCCESS);
    CU_ASSERT_EQUAL(counted(pages, &third, 7), APR_ENOSPC);
    CU_ASSERT_EQUAL(counted(pages, &next, 8), APR_SUCCESS);
    vault_page_drop(pages, &first);
    CU_ASSERT_EQUAL(counted(pages, &third, 7), APR_SUCCESS);
    CU_ASSERT_EQUAL(counted(pages, &first, 7), APR_ENOSPC);
    CU_ASSERT(!is_there(pages, &first));
    CU_ASSERT_EQUAL(vault_pages_count(pages), 3); /* what was refused left nothing */
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

/* Four pages in a table of four; each further one takes the place of the next in the order. */
static void a_full_table_makes_room_in_order(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t idle_long, idle, never_long, never, more;
    apr_time_t now = NOW + SECONDS(50);

    pages_begin(&f, &pages, 4, HEAP);
    idle_long = polled_until(pages, NOW);
    idle = polled_until(pages, NOW + SECONDS(5));
    never = made_at(pages, NOW + SECONDS(20));
    never_long = made_at(pages, NOW + SECONDS(10));
    made_at(pages, now);
    CU_ASSERT(!is_there(pages, &never_long) && is_there(pages, &never));
    made_at(pages, now);
    CU_ASSERT(!is_there(pages, &never) && is_there(pages, &idle_long));
    made_at(pages, now);
    CU_ASSERT(!is_there(pages, &idle_long) && is_there(pages, &idle));
    made_at(pages, now);
    CU_ASSERT(!is_there(pages, &idle));
    CU_ASSERT_EQUAL(vault_page_create(pages, &more, NULL, now + VAULT_PAGE_EVICTABLE, IDLE), APR_ENOSPC);
    CU_ASSERT_EQUAL(vault_page_create(pages, &more, NULL, now + VAULT_PAGE_EVICTABLE + 1, IDLE), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_pages_count(pages), 4);
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

static void expired_pages_go_before_any_other(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t expired, idle;

    pages_begin(&f, &pages, 2, HEAP);
    expired = made_at(pages, NOW);
    idle = polled_until(pages, NOW - SECONDS(100));
    made_at(pages, NOW + VAULT_PAGE_UNPOLLED + 1);
    CU_ASSERT(!is_there(pages, &expired) && is_there(pages, &idle));
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

static void a_waiting_page_is_not_evicted(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t waiting, more;

    pages_begin(&f, &pages, 1, HEAP);
    waiting = polled_until(pages, NOW + SECONDS(3600));
    CU_ASSERT_EQUAL(vault_page_create(pages, &more, NULL, NOW + SECONDS(3600), IDLE), APR_ENOSPC);
    CU_ASSERT(is_there(pages, &waiting));
    CU_ASSERT_EQUAL(vault_pages_count(pages), 1);
    CU_ASSERT_EQUAL(vault_page_create(pages, &more, NULL, NOW + SECONDS(3611), IDLE), APR_SUCCESS);
    CU_ASSERT(!is_there(pages, &waiting));
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

void vault_page_life_suite(void)
{
    CU_pSuite suite = CU_add_suite("page_life", NULL, NULL);

    CU_ADD_TEST(suite, an_interest_is_held_while_a_state_names_it);
    CU_ADD_TEST(suite, what_a_run_holds_is_held_until_it_ends);
    CU_ADD_TEST(suite, a_page_may_hold_so_many_and_no_more);
    CU_ADD_TEST(suite, two_pages_hold_one_interest);
    CU_ADD_TEST(suite, a_state_too_large_changes_nothing);
    CU_ADD_TEST(suite, a_full_heap_changes_nothing);
    CU_ADD_TEST(suite, a_waiting_poll_is_told_what_becomes_of_its_page);
    CU_ADD_TEST(suite, pages_expire);
    CU_ADD_TEST(suite, a_client_has_so_many_pages_and_no_more);
    CU_ADD_TEST(suite, a_full_table_makes_room_in_order);
    CU_ADD_TEST(suite, expired_pages_go_before_any_other);
    CU_ADD_TEST(suite, a_waiting_page_is_not_evicted);
}
