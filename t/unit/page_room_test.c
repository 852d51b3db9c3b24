/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of who loses when a client fills the table of pages, the heap or the interests, and of ids that cannot
 * be guessed. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apr_strings.h"

#include "base/now.h"
#include "page/page_record.h"
#include "page_fixture.h"
#include "unit.h"

#define HEAP (4 * 1024 * 1024)
#define SECONDS(n) apr_time_from_sec(n)
#define HOSTILE 7
#define SHARE 6 /* VaultMaxPagesPerClient */
#define PAGES 10
#define IDS 4096

/* A page of `client` made at that time. @return what a view is told */
static apr_status_t load(vault_pages_t *pages, vault_page_t *page, vault_client_id_t client, apr_time_t now)
{
    return vault_page_create(pages, page, &(vault_owner_t){.client = client}, now, IDLE);
}

static vault_page_t loaded(vault_pages_t *pages, vault_client_id_t client, apr_time_t now)
{
    vault_page_t page = {.index = 0};

    CU_ASSERT_EQUAL(load(pages, &page, client, now), APR_SUCCESS);
    return page;
}

static void poll(vault_pages_t *pages, const vault_page_t *page, apr_time_t until)
{
    vault_take_t take = {0, {0, 0}, {0}, NOW, until};
    vault_ticket_t t;

    CU_ASSERT_EQUAL(vault_page_take(pages, page, &take, &t), APR_SUCCESS);
}

static int is_there(vault_pages_t *pages, const vault_page_t *page)
{
    vault_take_t take = {0, {0, 0}, {0}, NOW, NOW};

    return page_acknowledge(pages, page, &take) == APR_SUCCESS;
}

static const vault_page_limits_t shares = {.interests = 8, .of_client = {[VAULT_CLIENT_PAGES] = SHARE}};

/* The attack on session tables: load pages and never come back. */
static void who_loads_without_end_pushes_out_no_other_client(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t polled, asleep, fresh, more;
    apr_time_t now = NOW;
    int i;

    pages_begin(&f, &pages, PAGES, HEAP);
    vault_pages_set_limits(pages, &shares);
    polled = loaded(pages, 1, NOW);
    poll(pages, &polled, NOW + SECONDS(3600));
    asleep = loaded(pages, 2, NOW); /* a laptop: polled, and not for a while */
    poll(pages, &asleep, NOW);
    for (i = 0; i < 100; i++) {
        CU_ASSERT(load(pages, &more, HOSTILE, now) == APR_SUCCESS || i >= SHARE);
        now += SECONDS(1) / 4;
    }
    CU_ASSERT_EQUAL(vault_clients_has(f.clients, HOSTILE, VAULT_CLIENT_PAGES), SHARE); /* his own oldest went */
    CU_ASSERT(is_there(pages, &asleep));
    fresh = loaded(pages, 3, now);
    for (i = 0; i < 100; i++) { /* under many names: no page that is polled or new, but his own */
        load(pages, &more, HOSTILE + 1 + (vault_client_id_t)i, now);
        now += SECONDS(1) / 20;
    }
    CU_ASSERT(is_there(pages, &polled));
    CU_ASSERT(is_there(pages, &fresh)); /* its first poll has time to come */
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

/* Pages that the hog has polled once look like those of other clients; but it has many. */
static void who_has_the_most_loses_first(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t others[PAGES - SHARE], his[SHARE];
    apr_time_t later = NOW + SECONDS(60);
    int i, left = 0;

    pages_begin(&f, &pages, PAGES, HEAP);
    for (i = 0; i < PAGES - SHARE; i++) {
        others[i] = loaded(pages, 1 + (vault_client_id_t)i, NOW);
        poll(pages, &others[i], NOW); /* idle for longer than his */
    }
    for (i = 0; i < SHARE; i++) {
        his[i] = loaded(pages, HOSTILE, NOW);
        poll(pages, &his[i], NOW + SECONDS(20));
    }
    for (i = 0; i < SHARE - 1; i++) {
        loaded(pages, 100 + (vault_client_id_t)i, later);
    }
    for (i = 0; i < PAGES - SHARE; i++) {
        CU_ASSERT(is_there(pages, &others[i]));
    }
    for (i = 0; i < SHARE; i++) {
        left += is_there(pages, &his[i]);
    }
    CU_ASSERT_EQUAL(left, 1); /* as many as any other client */
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

/* Pages that live go as well, where their client has more than its share and another has less. */
static void who_has_more_than_its_share_makes_room_for_who_has_less(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t his[PAGES - 2], hers[2], page;
    int i;

    pages_begin(&f, &pages, PAGES, HEAP);
    for (i = 0; i < 2; i++) {
        hers[i] = loaded(pages, 1, NOW);
        poll(pages, &hers[i], NOW + SECONDS(25));
    }
    for (i = 0; i < PAGES - 2; i++) {
        his[i] = loaded(pages, HOSTILE, NOW);
        poll(pages, &his[i], NOW + SECONDS(25 + i));
    }
    CU_ASSERT_EQUAL(load(pages, &page, HOSTILE, NOW + 1), APR_ENOSPC);
    CU_ASSERT_EQUAL(load(pages, &page, 2, NOW + 1), APR_SUCCESS);
    CU_ASSERT(!is_there(pages, &his[0]) && is_there(pages, &his[1]));
    CU_ASSERT_EQUAL(load(pages, &page, 2, NOW + 1), APR_SUCCESS);
    CU_ASSERT_EQUAL(load(pages, &page, 2, NOW + 1), APR_SUCCESS);
    CU_ASSERT_EQUAL(load(pages, &page, 2, NOW + 1), APR_ENOSPC); /* three clients: a fourth page is more than a share */
    CU_ASSERT_EQUAL(vault_clients_has(f.clients, HOSTILE, VAULT_CLIENT_PAGES), PAGES - 5);
    for (i = 0; i < 50; i++) { /* more clients than pages: none of them takes a page that is another's only one */
        load(pages, &page, 100 + (vault_client_id_t)i, NOW + 1);
    }
    CU_ASSERT_EQUAL(vault_clients_has(f.clients, HOSTILE, VAULT_CLIENT_PAGES), 1);
    CU_ASSERT_EQUAL(vault_clients_has(f.clients, 1, VAULT_CLIENT_PAGES), 1);
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

static void a_client_at_its_limit_loses_its_own_oldest_page(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t his[SHARE], other, page;
    int i;

    pages_begin(&f, &pages, PAGES, HEAP);
    vault_pages_set_limits(pages, &shares);
    other = loaded(pages, 1, NOW - SECONDS(50));
    for (i = 0; i < SHARE; i++) {
        his[i] = loaded(pages, HOSTILE, NOW + i);
    }
    poll(pages, &his[0], NOW + SECONDS(100));
    CU_ASSERT_EQUAL(load(pages, &page, HOSTILE, NOW + VAULT_PAGE_EVICTABLE), APR_ENOSPC); /* their polls may come yet */
    CU_ASSERT_EQUAL(load(pages, &page, HOSTILE, NOW + VAULT_PAGE_EVICTABLE + 3), APR_SUCCESS);
    CU_ASSERT(is_there(pages, &his[0]) && !is_there(pages, &his[1]) && is_there(pages, &his[2]));
    CU_ASSERT(is_there(pages, &other));
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

#define MANY 512
#define AT_ONCE (MANY / 128)

/* Else each view would scan a full table, as long as visitors come who never poll. */
static void a_full_table_makes_room_for_several_pages_at_once(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t polled, first, page;
    apr_time_t later = NOW + 2 * VAULT_PAGE_EVICTABLE;
    int i;

    pages_begin(&f, &pages, MANY, HEAP);
    polled = loaded(pages, 0, NOW);
    poll(pages, &polled, NOW);
    first = loaded(pages, 0, NOW);
    for (i = 2; i < MANY; i++) {
        page = loaded(pages, 0, NOW + 1);
    }
    CU_ASSERT_EQUAL(vault_pages_count(pages), MANY);
    loaded(pages, 0, later);
    CU_ASSERT_EQUAL(vault_pages_count(pages), MANY - AT_ONCE + 1);
    CU_ASSERT(!is_there(pages, &first) && is_there(pages, &page) && is_there(pages, &polled));
    for (i = 1; i < AT_ONCE; i++) {
        loaded(pages, 0, later);
    }
    CU_ASSERT_EQUAL(vault_pages_count(pages), MANY);
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

/* The children sweep all the time: it needs no other sweep to make room. */
static void a_table_that_was_swept_lately_is_not_swept_to_make_room(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page;
    apr_time_t later = NOW + SECONDS(3600);
    int i;

    pages_begin(&f, &pages, MANY, HEAP);
    for (i = 0; i < MANY; i++) {
        page = loaded(pages, 0, NOW);
    }
    CU_ASSERT_EQUAL(vault_pages_claim_sweep(pages, later), 1);
    CU_ASSERT_EQUAL(load(pages, &page, 0, later + SECONDS(1)), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_pages_count(pages), MANY - AT_ONCE + 1);
    for (i = 1; i < AT_ONCE; i++) {
        loaded(pages, 0, later + SECONDS(1));
    }
    CU_ASSERT_EQUAL(load(pages, &page, 0, later + SECONDS(3)), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_pages_count(pages), AT_ONCE + 1); /* no sweep for so long: what has expired has gone */
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

/* --------------------------------------------------------------------- heap */

/* A page of `client` with so large a state, which a poll has. By the clock, as the heap is when it makes room. */
static apr_status_t fill(fixture_t *f, vault_pages_t *pages, vault_page_t *page, vault_client_id_t client,
                         apr_size_t size)
{
    vault_state_t *state = vault_state_create(f->pool);
    char *value = apr_palloc(f->pool, size);
    apr_status_t rv = load(pages, page, client, vault_now());

    memset(value, 'x', size);
    value[size - 1] = '\0';
    vault_state_set(state, "key", value);
    if (rv == APR_SUCCESS && (rv = vault_page_publish(pages, page, state)) != APR_SUCCESS) {
        vault_page_drop(pages, page);
    }
    if (rv == APR_SUCCESS) {
        poll(pages, page, vault_now() + SECONDS(3600));
    }
    return rv;
}

#define HONEST 20

/* The attack of issue 11: pages of 48 KB, each below every limit, until the heap is full. */
static void who_fills_the_heap_pushes_out_no_other_client(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page, honest[2 * HONEST];
    int i, k;

    pages_begin(&f, &pages, 1000, HEAP);
    for (i = 0; i < HONEST; i++) {
        CU_ASSERT_EQUAL(fill(&f, pages, &honest[i], 1 + (vault_client_id_t)i, 1000), APR_SUCCESS);
    }
    for (k = 0; fill(&f, pages, &page, 1000, 48000) == APR_SUCCESS; k++) {
    }
    CU_ASSERT(k > 70);
    for (; i < 2 * HONEST; i++) { /* who comes while he goes on */
        CU_ASSERT_EQUAL(fill(&f, pages, &honest[i], 1 + (vault_client_id_t)i, 1000), APR_SUCCESS);
        fill(&f, pages, &page, 1000, 8000);
        fill(&f, pages, &page, 1000, 900);
    }
    for (i = 0; i < 2 * HONEST; i++) {
        vault_ticket_t t;
        vault_state_t *state = page_state(f.pool, "2", 0, 0);

        CU_ASSERT(is_there(pages, &honest[i]));
        CU_ASSERT_EQUAL(page_poll(pages, &honest[i], 0, 0, &t), APR_SUCCESS);
        CU_ASSERT_EQUAL(vault_page_stage(pages, &t, state), APR_SUCCESS);
    }
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

static void a_client_has_so_many_bytes_and_no_more(void)
{
    const apr_uint64_t most = HEAP / 16;
    vault_page_limits_t limits = {.interests = 8, .of_client = {[VAULT_CLIENT_BYTES] = most}};
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page;
    int i;

    pages_begin(&f, &pages, 1000, HEAP);
    vault_pages_set_limits(pages, &limits);
    for (i = 0; fill(&f, pages, &page, 1000, 20000) == APR_SUCCESS; i++) {
    }
    CU_ASSERT_EQUAL(i, (int)(most / 32768)); /* a state of 20,000 bytes takes two spans */
    CU_ASSERT(vault_clients_has(f.clients, 1000, VAULT_CLIENT_BYTES) <= most);
    CU_ASSERT_EQUAL(fill(&f, pages, &page, 1, 20000), APR_SUCCESS);
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

/* The limits that an administrator does not give. */
static void one_client_alone_cannot_take_more_than_a_few_per_cent(void)
{
    static const struct {
        apr_uint64_t given[VAULT_CLIENT_OF_SLOT], filled[VAULT_CLIENT_OF_SLOT];
        const char *why;
    } rows[] = {
        {{100, 0, 0}, {100, 0, 800}, "few pages: a sixteenth of the heap, and eight interests a page"},
        {{1, 0, 0}, {1, 0, 75}, "one page: an eighth of 600 interests"},
        {{4000, 0, 0}, {4000, 4096000, 32000}, "many pages: as much as they take"},
        {{100, 5, 6}, {100, 5, 6}, "what is given counts"},
    };
    fixture_t f;
    vault_pages_t *pages;
    unsigned i;

    pages_begin(&f, &pages, 10, HEAP);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        vault_page_limits_t limits = {.interests = 8};
        apr_uint64_t bytes = rows[i].filled[VAULT_CLIENT_BYTES];

        memcpy(limits.of_client, rows[i].given, sizeof(limits.of_client));
        vault_pages_default_limits(pages, &limits);
        CHECK_ROW(limits.of_client[VAULT_CLIENT_BYTES] == (bytes ? bytes : vault_heap_size(f.heap) / 16), rows[i].why);
        CHECK_ROW(limits.of_client[VAULT_CLIENT_INTERESTS] == rows[i].filled[VAULT_CLIENT_INTERESTS], rows[i].why);
    }
    fixture_end(&f);
}

/* ---------------------------------------------------------------- interests */

/* Hold so many interests of that name and a number. @return how many it got */
static int hold(vault_pages_t *pages, const vault_page_t *page, const char *name, int count)
{
    vault_interest_t interest;
    apr_uint64_t stamp;
    char text[40];
    int i;

    for (i = 0; i < count; i++) {
        apr_snprintf(text, sizeof(text), "%s-%d", name, i);
        if (vault_page_hold(pages, page, text, &interest, &stamp) != APR_SUCCESS) {
            break;
        }
    }
    return i;
}

static void who_holds_all_interests_makes_room_for_others(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t his[10], hers = {.index = 0};
    char name[16];
    int i;

    pages_begin(&f, &pages, 20, HEAP);
    for (i = 0; i < 10 && load(pages, &his[i], HOSTILE, vault_now()) == APR_SUCCESS; i++) {
        apr_snprintf(name, sizeof(name), "his%d", i);
        hold(pages, &his[i], name, 200);
        poll(pages, &his[i], vault_now() + SECONDS(3600));
    }
    CU_ASSERT_EQUAL(vault_interest_count(f.notifier), vault_notifier_interests(f.notifier));
    CU_ASSERT_EQUAL(load(pages, &hers, 1, vault_now()), APR_SUCCESS);
    CU_ASSERT_EQUAL(hold(pages, &hers, "hers", 100), 100);
    CU_ASSERT(is_there(pages, &hers));
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

/* The limit is one on places: what others hold as well takes none. */
static void a_client_has_so_many_interests_and_no_more(void)
{
    vault_page_limits_t limits = {.interests = 100, .of_client = {[VAULT_CLIENT_INTERESTS] = 50}};
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page, other;

    pages_begin(&f, &pages, 20, HEAP);
    vault_pages_set_limits(pages, &limits);
    page = loaded(pages, 1, NOW);
    other = loaded(pages, 2, NOW);
    CU_ASSERT_EQUAL(hold(pages, &page, "a", 100), 49); /* and its own */
    CU_ASSERT_EQUAL(hold(pages, &other, "b", 10), 10);
    CU_ASSERT_EQUAL(hold(pages, &page, "b", 11), 10);
    CU_ASSERT_EQUAL(vault_clients_has(f.clients, 1, VAULT_CLIENT_INTERESTS), 60);
    vault_page_drop(pages, &other);
    pages_end(&f, pages, &page);
}

/* ----------------------------------------------------------------------- ids */

static int by_id(const void *a, const void *b)
{
    return memcmp(a, b, 2 * sizeof(apr_uint64_t));
}

static void one_page_more(void *baton)
{
    vault_pages_t *pages = baton;
    vault_page_t page;

    vault_page_create(pages, &page, NULL, NOW, IDLE);
}

/* Each of the 128 bits is a coin of its own; and a child that was forked does not throw what its brother throws. */
static void ids_are_random(void)
{
    fixture_t f;
    vault_pages_t *pages;
    static apr_uint64_t ids[IDS][2];
    unsigned ones[128] = {0};
    vault_page_t page;
    int i, bit;

    pages_begin(&f, &pages, 4, HEAP);
    for (i = 0; i < IDS; i++) {
        CU_ASSERT_EQUAL(vault_page_create(pages, &page, NULL, NOW, IDLE), APR_SUCCESS);
        memcpy(ids[i], page.id, sizeof(ids[i]));
        for (bit = 0; bit < 128; bit++) {
            ones[bit] += (unsigned)(page.id[bit / 64] >> (bit % 64)) & 1;
        }
        vault_page_drop(pages, &page);
    }
    for (bit = 0; bit < 128; bit++) { /* ten standard deviations of 4,096 coins are 320 */
        CU_ASSERT(ones[bit] > IDS / 2 - 320 && ones[bit] < IDS / 2 + 320);
    }
    qsort(ids, IDS, sizeof(ids[0]), by_id);
    for (i = 1; i < IDS; i++) {
        CU_ASSERT(by_id(ids[i - 1], ids[i]) != 0);
    }
    fixture_kill(fixture_fork(one_page_more, pages));
    fixture_kill(fixture_fork(one_page_more, pages));
    CU_ASSERT_EQUAL(vault_pages_count(pages), 2);
    CU_ASSERT(memcmp(pages->records[1].id, pages->records[2].id, sizeof(pages->records[1].id)) != 0);
    fixture_end(&f);
}

void vault_page_room_suite(void)
{
    CU_pSuite suite = CU_add_suite("page_room", NULL, NULL);

    CU_ADD_TEST(suite, who_loads_without_end_pushes_out_no_other_client);
    CU_ADD_TEST(suite, who_has_the_most_loses_first);
    CU_ADD_TEST(suite, who_has_more_than_its_share_makes_room_for_who_has_less);
    CU_ADD_TEST(suite, a_client_at_its_limit_loses_its_own_oldest_page);
    CU_ADD_TEST(suite, a_full_table_makes_room_for_several_pages_at_once);
    CU_ADD_TEST(suite, a_table_that_was_swept_lately_is_not_swept_to_make_room);
    CU_ADD_TEST(suite, who_fills_the_heap_pushes_out_no_other_client);
    CU_ADD_TEST(suite, a_client_has_so_many_bytes_and_no_more);
    CU_ADD_TEST(suite, one_client_alone_cannot_take_more_than_a_few_per_cent);
    CU_ADD_TEST(suite, who_holds_all_interests_makes_room_for_others);
    CU_ADD_TEST(suite, a_client_has_so_many_interests_and_no_more);
    CU_ADD_TEST(suite, ids_are_random);
}
