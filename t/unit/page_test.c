/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of pages, one thing after the other: numbers, tabs, owners, tickets, expiry. What they hold is in
 * page_life_test.c. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apr_strings.h"

#include "page/page_facts.h"
#include "page_fixture.h"
#include "unit.h"

#define HEAP (1024 * 1024)
#define SECOND apr_time_from_sec(1)

/* ------------------------------------------------------------------------ id */

static void an_id_has_one_form(void)
{
    static const struct {
        const char *id;
        int parsed;
        const char *why;
    } rows[] = {
        {"0123456789abcdeffedcba987654321000000007", 1, "an id"},
        {"0000000000000000000000000000000000000000", 1, "the form of one; there is no such page"},
        {"ffffffffffffffffffffffffffffffffffffffff", 1, "the largest"},
        {"", 0, "empty"},
        {"0123456789abcdef", 0, "cut after a part"},
        {"0123456789abcdeffedcba98765432100000000", 0, "too short by one"},
        {"0123456789abcdeffedcba9876543210000000070", 0, "too long by one"},
        {"0123456789abcdeffedcba987654321000000007 ", 0, "a space behind"},
        {" 123456789abcdeffedcba987654321000000007", 0, "a space before"},
        {"0123456789ABCDEFFEDCBA987654321000000007", 0, "capitals: one page has one id"},
        {"0123456789abcdeffedcba98765432100000000g", 0, "no hexadecimal digit"},
        {"-123456789abcdeffedcba987654321000000007", 0, "a sign"},
        {"0x23456789abcdeffedcba987654321000000007", 0, "a prefix"},
        {"\xff\xff", 0, "bytes with the high bit"},
    };
    unsigned i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *exact = strdup(rows[i].id), back[VAULT_PAGE_ID_LEN + 1];
        vault_page_t page;

        CHECK_ROW(vault_page_parse(&page, exact) == rows[i].parsed, rows[i].why);
        if (rows[i].parsed) {
            vault_page_format(&page, back);
            CHECK_ROW(!strcmp(back, rows[i].id), rows[i].why);
        }
        free(exact);
    }
}

static void a_page_is_named_by_its_whole_id(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page, wrong;
    vault_ticket_t ticket;
    char id[VAULT_PAGE_ID_LEN + 1];

    pages_begin(&f, &pages, 3, HEAP);
    page = page_publish(pages, f.pool);
    vault_page_format(&page, id);
    CU_ASSERT_EQUAL(strlen(id), VAULT_PAGE_ID_LEN);
    CU_ASSERT(vault_page_parse(&wrong, id));
    CU_ASSERT_EQUAL(page_poll(pages, &wrong, 0, 0, &ticket), APR_NOTFOUND);
    vault_page_locate(pages, &wrong);
    CU_ASSERT_EQUAL(wrong.index, page.index);
    CU_ASSERT_EQUAL(page_poll(pages, &wrong, 0, 0, &ticket), APR_SUCCESS);
    wrong.id[0] ^= 1;
    CU_ASSERT_EQUAL(page_poll(pages, &wrong, 0, 0, &ticket), APR_NOTFOUND);
    wrong = page;
    wrong.id[1] ^= APR_UINT64_C(1) << 63;
    CU_ASSERT_EQUAL(page_poll(pages, &wrong, 0, 0, &ticket), APR_NOTFOUND);
    for (wrong = page, wrong.index = 0; wrong.index < 6; wrong.index++) {
        CU_ASSERT_EQUAL(page_poll(pages, &wrong, 0, 0, &ticket),
                        wrong.index == page.index ? APR_SUCCESS : APR_NOTFOUND);
    }
    wrong.index = 0xffffffffu;
    CU_ASSERT_EQUAL(page_poll(pages, &wrong, 0, 0, &ticket), APR_NOTFOUND);
    memset(&wrong, 0, sizeof(wrong));
    wrong.index = page.index + 1; /* the id of a free record */
    CU_ASSERT_EQUAL(page_poll(pages, &wrong, 0, 0, &ticket), APR_NOTFOUND);
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

/* Pages are found by the whole id: its last digits choose the bucket, the others identify the page. */
static void a_page_is_looked_up_by_its_id(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page[5], wrong;
    unsigned i, round;

    pages_begin(&f, &pages, 5, HEAP);
    for (i = 0; i < 5; i++) {
        CU_ASSERT_EQUAL(vault_page_draw(&page[i]), APR_SUCCESS);
        page[i].key = 7 + (i > 2) * 8; /* all in one bucket, some of one key */
        CU_ASSERT_EQUAL(vault_page_create_drawn(pages, &page[i], NULL, NOW, IDLE), APR_SUCCESS);
        wrong = page[i];
        CU_ASSERT_EQUAL(vault_page_create_drawn(pages, &wrong, NULL, NOW, IDLE), APR_EEXIST);
    }
    for (round = 0; round < 5; round++) { /* in the middle of the chain, at its ends, and what is left of it */
        static const unsigned goes[] = {2, 4, 0, 1, 3};
        for (i = 0; i < 5; i++) {
            wrong = page[i];
            wrong.index = 99;
            vault_page_locate(pages, &wrong);
            CU_ASSERT_EQUAL(wrong.index, page[i].index);
            wrong.key ^= 8;
            vault_page_locate(pages, &wrong);
            CU_ASSERT_EQUAL(wrong.index, 0);
            wrong = page[i];
            wrong.id[1] ^= 1;
            vault_page_locate(pages, &wrong);
            CU_ASSERT_EQUAL(wrong.index, 0);
        }
        CHECK_PAGES(&f, pages);
        vault_page_drop(pages, &page[goes[round]]);
        vault_page_locate(pages, &page[goes[round]]);
        CU_ASSERT_EQUAL(page[goes[round]].index, 0);
    }
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

/* -------------------------------------------------------------------- numbers */

/* The history of a page's states: `first` answers staged from the base, one acknowledged, `second` staged from
 * that. */
typedef struct history_t {
    int first;
    apr_uint64_t acknowledged;
    int second;
    apr_uint64_t base, staged, older; /* what it has then; 0 for staged and older: none */
    const char *why;
} history_t;

static const history_t histories[] = {
    {0, 0, 0, 0, 0, 0, "just published"},
    {1, 0, 0, 0, 1, 0, "an answer is on its way"},
    {2, 0, 0, 0, 2, 1, "a poll was overtaken"},
    {3, 0, 0, 0, 3, 2, "two were: the oldest answer is forgotten"},
    {1, 1, 0, 1, 0, 0, "the answer arrived"},
    {2, 2, 0, 2, 0, 0, "the newer arrived: the older is forgotten"},
    {2, 1, 0, 1, 0, 0, "the older arrived: the newer is forgotten"},
    {2, 1, 1, 1, 3, 0, "the number of the forgotten one is not used again"},
    {2, 2, 1, 2, 3, 0, "the next"},
    {2, 1, 2, 1, 4, 3, "two more"},
    {3, 2, 1, 2, 4, 0, "the second of three, and one more"},
    {3, 3, 3, 3, 6, 5, "three and three"},
};
#define HISTORIES (sizeof(histories) / sizeof(histories[0]))

static void stage(vault_pages_t *pages, vault_ticket_t *ticket, apr_pool_t *pool, apr_uint64_t number)
{
    vault_state_t *s = page_state(pool, apr_psprintf(pool, "%d", (int)number), 0, 0);

    CU_ASSERT_EQUAL(vault_page_stage(pages, ticket, s), APR_SUCCESS);
    CU_ASSERT_EQUAL(s->seq, number);
}

static vault_page_t live_through(const history_t *h, vault_pages_t *pages, apr_pool_t *pool, vault_ticket_t *ticket)
{
    vault_page_t page = page_publish(pages, pool);
    apr_uint64_t number = 0;
    int i;

    CU_ASSERT_EQUAL(page_poll(pages, &page, 0, 0, ticket), APR_SUCCESS);
    for (i = 0; i < h->first; i++) {
        CU_ASSERT_EQUAL(page_poll(pages, &page, 0, 0, ticket), APR_SUCCESS);
        stage(pages, ticket, pool, ++number);
    }
    for (i = 0; i < h->second || i == 0; i++) {
        CU_ASSERT_EQUAL(page_poll(pages, &page, h->acknowledged, 0, ticket), APR_SUCCESS);
        if (i < h->second) {
            stage(pages, ticket, pool, ++number);
        }
    }
    return page;
}

static int is_known(const history_t *h, apr_uint64_t seq)
{
    return seq == h->base || (seq && (seq == h->staged || seq == h->older));
}

/* The mark of a state is its number; the state of the HTML has none. */
static void check_base(vault_pages_t *pages, vault_ticket_t *ticket, apr_pool_t *pool, apr_uint64_t seq,
                       const char *why)
{
    CHECK_ROW(page_base(pages, ticket, pool)->seq == seq, why);
    CHECK_ROW(!strcmp(page_mark(pages, ticket, pool), seq ? apr_psprintf(pool, "%d", (int)seq) : ""), why);
}

/* A wrong number changes nothing: the poll before may continue, and what was staged can still be acknowledged. */
static void check_untouched(vault_pages_t *pages, const vault_page_t *page, vault_ticket_t *before, const history_t *h,
                            apr_pool_t *pool)
{
    vault_ticket_t ticket;
    apr_uint64_t right = h->older ? h->older : h->staged ? h->staged : h->base;

    CHECK_ROW(!vault_page_superseded(pages, before), h->why);
    check_base(pages, before, pool, h->base, h->why);
    CHECK_ROW(page_poll(pages, page, right, 0, &ticket) == APR_SUCCESS, h->why);
    check_base(pages, &ticket, pool, right, h->why);
}

/* I5: a number means one state as long as the page exists. */
static void a_number_commits_what_it_names_or_nothing(void)
{
    static const apr_uint64_t asked[] = {0, 1, 2, 3, 4, 5, 6, 7, APR_UINT64_C(1) << 32, VAULT_PAGE_LATEST - 1};
    fixture_t f;
    vault_pages_t *pages;
    unsigned i, k;

    pages_begin(&f, &pages, 3, HEAP);
    for (i = 0; i < HISTORIES; i++) {
        for (k = 0; k < sizeof(asked) / sizeof(asked[0]); k++) {
            const history_t *h = &histories[i];
            vault_ticket_t before, ticket;
            vault_page_t page = live_through(h, pages, f.pool, &before);
            int known = is_known(h, asked[k]);

            CHECK_ROW(page_poll(pages, &page, asked[k], 0, &ticket) == (known ? APR_SUCCESS : APR_EMISMATCH), h->why);
            if (known) {
                CHECK_ROW(ticket.redelivers == (asked[k] == h->base && h->staged), h->why);
                CHECK_ROW(vault_page_superseded(pages, &before), h->why);
                check_base(pages, &ticket, f.pool, asked[k], h->why);
            }
            else {
                check_untouched(pages, &page, &before, h, f.pool);
            }
            vault_page_drop(pages, &page);
        }
        CHECK_PAGES(&f, pages);
    }
    pages_end(&f, pages, NULL);
}

/* A separate acknowledgement ends a running poll only if that runs from a state that is no longer the base. */
static void an_acknowledgement_commits_without_polling(void)
{
    fixture_t f;
    vault_pages_t *pages;
    unsigned i;
    apr_uint64_t seq;

    pages_begin(&f, &pages, 3, HEAP);
    for (i = 0; i < HISTORIES; i++) {
        for (seq = 0; seq < 8; seq++) {
            const history_t *h = &histories[i];
            vault_ticket_t before, ticket;
            vault_page_t page = live_through(h, pages, f.pool, &before);
            vault_take_t take = {seq, {0, 0}, {0}, NOW, NOW};
            apr_status_t rv = page_acknowledge(pages, &page, &take);

            CHECK_ROW(rv == (is_known(h, seq) ? APR_SUCCESS : APR_EMISMATCH), h->why);
            if (rv == APR_SUCCESS) {
                CHECK_ROW(vault_page_superseded(pages, &before) == (seq != h->base), h->why);
                CHECK_ROW(page_poll(pages, &page, seq, 0, &ticket) == APR_SUCCESS, h->why);
                check_base(pages, &ticket, f.pool, seq, h->why);
            }
            else {
                check_untouched(pages, &page, &before, h, f.pool);
            }
            vault_page_drop(pages, &page);
        }
    }
    pages_end(&f, pages, NULL);
}

static void a_round_without_output_keeps_the_number(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page;
    vault_ticket_t ticket;
    vault_state_t *s;
    int i;

    pages_begin(&f, &pages, 3, HEAP);
    page = page_publish(pages, f.pool);
    CU_ASSERT_EQUAL(page_poll(pages, &page, 0, 0, &ticket), APR_SUCCESS);
    stage(pages, &ticket, f.pool, 1);
    CU_ASSERT_EQUAL(page_poll(pages, &page, 1, 0, &ticket), APR_SUCCESS);
    for (i = 0; i < 3; i++) {
        s = page_state(f.pool, "quiet", 0, 0);
        s->seq = 77; /* the caller's number does not matter */
        CU_ASSERT_EQUAL(vault_page_commit(pages, &ticket, s), APR_SUCCESS);
        CU_ASSERT_EQUAL(s->seq, 1);
        CU_ASSERT_EQUAL(page_base(pages, &ticket, f.pool)->seq, 1);
        CU_ASSERT_STRING_EQUAL(page_mark(pages, &ticket, f.pool), "quiet");
    }
    stage(pages, &ticket, f.pool, 2); /* no number was used */
    CU_ASSERT_EQUAL(vault_page_commit(pages, &ticket, page_state(f.pool, "quiet", 0, 0)), APR_SUCCESS);
    CU_ASSERT_EQUAL(page_poll(pages, &page, 2, 0, &ticket), APR_SUCCESS); /* the commit left what was staged */
    check_base(pages, &ticket, f.pool, 2, "staged before the commit");
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

static void the_first_state_has_number_zero(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page;
    vault_ticket_t ticket;
    vault_state_t *s, *base;

    pages_begin(&f, &pages, 3, HEAP);
    CU_ASSERT_EQUAL(vault_page_create(pages, &page, NULL, NOW, IDLE), APR_SUCCESS);
    CU_ASSERT_EQUAL(page_poll(pages, &page, 1, 0, &ticket), APR_EMISMATCH);
    CU_ASSERT_EQUAL(page_poll(pages, &page, 0, 0, &ticket), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_page_read_base(pages, &ticket, &base, f.pool), APR_EAGAIN);
    s = page_state(f.pool, "view", 0, 0);
    CU_ASSERT_EQUAL(vault_page_commit(pages, &ticket, s), APR_EAGAIN);
    CU_ASSERT_EQUAL(vault_page_stage(pages, &ticket, s), APR_EAGAIN);
    s->seq = 5;
    CU_ASSERT_EQUAL(vault_page_publish(pages, &page, s), APR_SUCCESS);
    CU_ASSERT_EQUAL(page_base(pages, &ticket, f.pool)->seq, 0);
    CU_ASSERT_STRING_EQUAL(page_mark(pages, &ticket, f.pool), "view");
    CU_ASSERT_EQUAL(vault_page_publish(pages, &page, page_state(f.pool, "again", 0, 0)), APR_EINVAL);
    CU_ASSERT_STRING_EQUAL(page_mark(pages, &ticket, f.pool), "view");
    pages_end(&f, pages, &page);
}

/* ---------------------------------------------------------------- who may poll */

static void one_tab_has_a_page(void)
{
    static const struct {
        apr_uint64_t seq;
        apr_uint64_t tab[2];
        apr_status_t taken;
        const char *why;
    } rows[] = {
        {0, {0, 0}, APR_SUCCESS, "a simple client says no tab"},
        {9, {8, 8}, APR_EMISMATCH, "a wrong number"},
        {0,
         {0, 5},
         APR_SUCCESS,
         "the first to say its tab with a right number has the page, half of the nonce may be zero"},
        {0, {0, 5}, APR_SUCCESS, "the same tab"},
        {0, {5, 5}, APR_EMISMATCH, "a duplicated tab: the first half differs"},
        {0, {0, 4}, APR_EMISMATCH, "a duplicated tab: the second half differs"},
        {0, {0, 0}, APR_SUCCESS, "no tab, still"},
        {0, {0, 5}, APR_SUCCESS, "the same tab again"},
    };
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page;
    vault_ticket_t ticket, before;
    unsigned i;

    pages_begin(&f, &pages, 3, HEAP);
    page = page_publish(pages, f.pool);
    CU_ASSERT_EQUAL(page_poll(pages, &page, 0, 0, &before), APR_SUCCESS);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        vault_take_t take = {rows[i].seq, {rows[i].tab[0], rows[i].tab[1]}, {0}, NOW, NOW};

        CHECK_ROW(vault_page_take(pages, &page, &take, &ticket) == rows[i].taken, rows[i].why);
        CHECK_ROW(vault_page_superseded(pages, &before) == (rows[i].taken == APR_SUCCESS), rows[i].why);
        CHECK_ROW(page_acknowledge(pages, &page, &take) == rows[i].taken, rows[i].why);
        before = rows[i].taken == APR_SUCCESS ? ticket : before;
    }
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

static void a_page_is_its_owners(void)
{
    static const struct {
        vault_owner_t owner, polls;
        apr_status_t taken;
        const char *why;
    } rows[] = {
        {{0}, {0}, APR_SUCCESS, "a page without an owner"},
        {{0}, {.user = "ann"}, APR_SUCCESS, "a page without an owner, and a user"},
        {{.user = "ann"}, {.user = "ann"}, APR_SUCCESS, "her own"},
        {{.user = "ann"}, {.user = "bob"}, APR_EACCES, "another's"},
        {{.user = "ann"}, {0}, APR_EACCES, "not logged in any more"},
        {{.user = "ann"}, {.user = "an"}, APR_EACCES, "a beginning"},
        {{.user = "ann"}, {.user = "anna"}, APR_EACCES, "a longer one"},
        {{.user = "ann"}, {.user = "Ann"}, APR_EACCES, "names are compared byte by byte"},
        {{.user = ""}, {0}, APR_EACCES, "the user without a name is a user"},
        {{.user = ""}, {.user = ""}, APR_SUCCESS, "and may"},
        {{.realm = 1, .user = "ann"}, {.realm = 1, .user = "ann"}, APR_SUCCESS, "her own, in her realm"},
        {{.realm = 1, .user = "ann"}, {.realm = 2, .user = "ann"}, APR_EACCES, "ann of another realm"},
        {{.realm = 1, .user = "ann"}, {.user = "ann"}, APR_EACCES, "ann of none"},
        {{0}, {.realm = 2, .user = "ann"}, APR_SUCCESS, "a page without an owner, and a user of a realm"},
        {{.host = 1}, {.host = 1}, APR_SUCCESS, "a page without an owner, on its host"},
        {{.host = 1}, {.host = 2}, APR_NOTFOUND, "on another host there is no such page"},
        {{.host = 1}, {0}, APR_NOTFOUND, "nor on none"},
        {{.host = 1, .user = "ann"}, {.host = 2, .user = "ann"}, APR_NOTFOUND, "nor for its user"},
        {{.host = 1, .user = "ann"},
         {.host = 2, .user = "bob"},
         APR_NOTFOUND,
         "and another one does not learn that it is"},
        {{.host = 1, .realm = 3, .user = "ann"}, {.host = 1, .realm = 3, .user = "ann"}, APR_SUCCESS, "all of it fits"},
    };
    fixture_t f;
    vault_pages_t *pages;
    unsigned i;

    pages_begin(&f, &pages, 3, HEAP);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        vault_take_t take = {0, {1, 1}, rows[i].polls, NOW, NOW};
        vault_page_t page;
        vault_ticket_t ticket;

        CU_ASSERT_FATAL(vault_page_create(pages, &page, &rows[i].owner, NOW, IDLE) == APR_SUCCESS);
        CHECK_ROW(vault_page_take(pages, &page, &take, &ticket) == rows[i].taken, rows[i].why);
        CHECK_ROW(page_acknowledge(pages, &page, &take) == rows[i].taken, rows[i].why);
        CHECK_ROW(vault_page_is_elsewhere(pages, &page, take.owner.host) == (rows[i].taken == APR_NOTFOUND),
                  rows[i].why);
        take.owner = rows[i].owner;
        take.tab[0] = 2;
        CHECK_ROW(vault_page_take(pages, &page, &take, &ticket) == (rows[i].taken ? APR_SUCCESS : APR_EMISMATCH),
                  "who is refused leaves no tab behind");
        vault_page_drop(pages, &page);
        CHECK_ROW(!vault_page_is_elsewhere(pages, &page, 4), "a page that is gone is nowhere");
    }
    pages_end(&f, pages, NULL);
}

/* The notify of a poll that takes over the page wakes the poll before it; if that has left, only itself. */
static void taking_over_is_told_while_there_is_a_poll(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page;
    vault_take_t take = {0, {0, 0}, {0}, NOW, NOW + 100};
    vault_ticket_t first, second, third;
    apr_uint64_t stamp;

    pages_begin(&f, &pages, 3, HEAP);
    page = page_publish(pages, f.pool);
    CU_ASSERT_EQUAL(vault_page_take(pages, &page, &take, &first), APR_SUCCESS);
    stamp = vault_interest_stamp(f.notifier, first.interest);
    take.now = NOW + 50;
    CU_ASSERT_EQUAL(vault_page_take(pages, &page, &take, &second), APR_SUCCESS);
    CU_ASSERT(vault_interest_stamp(f.notifier, first.interest) > stamp);

    stamp = vault_interest_stamp(f.notifier, first.interest);
    vault_page_leave(pages, &first, NOW + 10);
    CU_ASSERT_EQUAL(vault_page_take(pages, &page, &take, &third), APR_SUCCESS);
    CU_ASSERT(vault_interest_stamp(f.notifier, first.interest) > stamp);

    stamp = vault_interest_stamp(f.notifier, first.interest);
    vault_page_leave(pages, &third, NOW + 20);
    CU_ASSERT_EQUAL(vault_page_take(pages, &page, &take, &first), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_interest_stamp(f.notifier, first.interest), stamp);
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

/* I6: only the holder of the fence can change the page. */
static void an_overtaken_poll_can_change_nothing(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page;
    vault_ticket_t older, newer;
    vault_state_t *s;

    pages_begin(&f, &pages, 3, HEAP);
    page = page_publish(pages, f.pool);
    CU_ASSERT_EQUAL(page_poll(pages, &page, 0, 0, &older), APR_SUCCESS);
    CU_ASSERT(!vault_page_superseded(pages, &older));
    CU_ASSERT_EQUAL(page_poll(pages, &page, 0, 0, &newer), APR_SUCCESS);
    CU_ASSERT(newer.fence > older.fence);
    CU_ASSERT(vault_page_superseded(pages, &older));
    CU_ASSERT(!vault_page_superseded(pages, &newer));
    CU_ASSERT_EQUAL(vault_page_read_base(pages, &older, &s, f.pool), APR_ECONNABORTED);
    CU_ASSERT_EQUAL(vault_page_stage(pages, &older, page_state(f.pool, "late", 0, 0)), APR_ECONNABORTED);
    CU_ASSERT_EQUAL(vault_page_commit(pages, &older, page_state(f.pool, "late", 0, 0)), APR_ECONNABORTED);
    CU_ASSERT_STRING_EQUAL(page_mark(pages, &newer, f.pool), "");
    stage(pages, &newer, f.pool, 1);
    CU_ASSERT_EQUAL(vault_page_stage(pages, &older, page_state(f.pool, "late", 0, 0)), APR_ECONNABORTED);
    CU_ASSERT_EQUAL(page_poll(pages, &page, 1, 0, &newer), APR_SUCCESS);
    check_base(pages, &newer, f.pool, 1, "the newer poll's answer");
    pages_end(&f, pages, &page);
}

static void who_comes_too_late_is_told(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page, next;
    vault_ticket_t ticket, other;
    vault_state_t *s = NULL;
    vault_interest_t interest;
    apr_uint64_t stamp;
    vault_take_t take = {0, {0, 0}, {0}, NOW, NOW};

    pages_begin(&f, &pages, 1, HEAP);
    page = page_publish(pages, f.pool);
    CU_ASSERT_EQUAL(page_poll(pages, &page, 0, 0, &ticket), APR_SUCCESS);
    vault_page_drop(pages, &page);
    vault_page_drop(pages, &page);
    next = page_publish(pages, f.pool); /* in the same record */
    CU_ASSERT_EQUAL(next.index, page.index);
    CU_ASSERT_EQUAL(page_poll(pages, &next, 0, 0, &other), APR_SUCCESS);
    CU_ASSERT(vault_page_superseded(pages, &ticket));
    CU_ASSERT_EQUAL(vault_page_read_base(pages, &ticket, &s, f.pool), APR_NOTFOUND);
    CU_ASSERT_EQUAL(vault_page_stage(pages, &ticket, page_state(f.pool, "x", 0, 0)), APR_NOTFOUND);
    CU_ASSERT_EQUAL(vault_page_commit(pages, &ticket, page_state(f.pool, "x", 0, 0)), APR_NOTFOUND);
    CU_ASSERT_EQUAL(vault_page_publish(pages, &page, vault_state_create(f.pool)), APR_NOTFOUND);
    CU_ASSERT_EQUAL(page_acknowledge(pages, &page, &take), APR_NOTFOUND);
    CU_ASSERT_EQUAL(vault_page_take(pages, &page, &take, &ticket), APR_NOTFOUND);
    CU_ASSERT_EQUAL(vault_page_hold(pages, &page, "x", &interest, &stamp), APR_NOTFOUND);
    vault_page_leave(pages, &ticket, NOW);
    vault_page_drop(pages, &page);
    CU_ASSERT(!vault_page_superseded(pages, &other));
    CU_ASSERT_EQUAL(vault_pages_count(pages), 1);
    CU_ASSERT_EQUAL(vault_interest_count(f.notifier), 1);
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

void vault_page_suite(void)
{
    CU_pSuite suite = CU_add_suite("page", NULL, NULL);

    CU_ADD_TEST(suite, an_id_has_one_form);
    CU_ADD_TEST(suite, a_page_is_named_by_its_whole_id);
    CU_ADD_TEST(suite, a_page_is_looked_up_by_its_id);
    CU_ADD_TEST(suite, a_number_commits_what_it_names_or_nothing);
    CU_ADD_TEST(suite, an_acknowledgement_commits_without_polling);
    CU_ADD_TEST(suite, a_round_without_output_keeps_the_number);
    CU_ADD_TEST(suite, the_first_state_has_number_zero);
    CU_ADD_TEST(suite, one_tab_has_a_page);
    CU_ADD_TEST(suite, a_page_is_its_owners);
    CU_ADD_TEST(suite, taking_over_is_told_while_there_is_a_poll);
    CU_ADD_TEST(suite, an_overtaken_poll_can_change_nothing);
    CU_ADD_TEST(suite, who_comes_too_late_is_told);
}
