/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of who loses when the table of pages is full because somebody fills it, and of ids that nobody can guess. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "page_fixture.h"
#include "page_record.h"
#include "unit.h"

#define HEAP (4 * 1024 * 1024)
#define SECONDS(n) apr_time_from_sec(n)
#define HOSTILE 7
#define SHARE 6 /* VaultMaxPagesPerClient */
#define PAGES 10
#define IDS 4096

/* A page of `client` made at that time. @return what a view is told */
static apr_status_t load(vault_pages_t *pages, vault_page_t *page, apr_uint32_t client, apr_time_t now)
{
    apr_status_t rv = vault_page_create(pages, page, NULL, now, IDLE);

    if (rv == APR_SUCCESS && (rv = vault_page_count_client(pages, page, client, SHARE)) != APR_SUCCESS) {
        vault_page_drop(pages, page);
    }
    return rv;
}

static vault_page_t loaded(vault_pages_t *pages, apr_uint32_t client, apr_time_t now)
{
    vault_page_t page = {{0, 0}, 0};

    CU_ASSERT_EQUAL(load(pages, &page, client, now), APR_SUCCESS);
    return page;
}

static void poll(vault_pages_t *pages, const vault_page_t *page, apr_time_t until)
{
    vault_take_t take = {0, {0, 0}, NULL, NOW, until};
    vault_ticket_t t;

    CU_ASSERT_EQUAL(vault_page_take(pages, page, &take, &t), APR_SUCCESS);
}

static int is_there(vault_pages_t *pages, const vault_page_t *page)
{
    vault_take_t take = {0, {0, 0}, NULL, NOW, NOW};

    return page_acknowledge(pages, page, &take) == APR_SUCCESS;
}

/* The attack on session tables: load pages and never come back. */
static void who_loads_without_end_pushes_out_nobody(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t polled, asleep, fresh, more;
    apr_time_t now = NOW;
    int i, made = 0;

    pages_begin(&f, &pages, PAGES, HEAP);
    polled = loaded(pages, 1, NOW);
    poll(pages, &polled, NOW + SECONDS(3600));
    asleep = loaded(pages, 2, NOW); /* a laptop: polled, and not for a while */
    poll(pages, &asleep, NOW);
    for (i = 0; i < 100; i++) {
        made += load(pages, &more, HOSTILE, now) == APR_SUCCESS;
        now += SECONDS(1) / 4;
    }
    CU_ASSERT_EQUAL(made, SHARE);
    CU_ASSERT(is_there(pages, &asleep));
    fresh = loaded(pages, 3, now);
    for (i = 0; i < 100; i++) { /* under many names: only what nobody polls goes, his own as well */
        load(pages, &more, HOSTILE + 1 + (apr_uint32_t)i, now);
        now += SECONDS(1) / 20;
    }
    CU_ASSERT(is_there(pages, &polled));
    CU_ASSERT(is_there(pages, &fresh)); /* its first poll has time to come */
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

/* Pages that he has polled once look like anybody's; but he has many. */
static void who_has_the_most_loses_first(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t others[PAGES - SHARE], his[SHARE];
    apr_time_t later = NOW + SECONDS(60);
    int i, left = 0;

    pages_begin(&f, &pages, PAGES, HEAP);
    for (i = 0; i < PAGES - SHARE; i++) {
        others[i] = loaded(pages, 1 + (apr_uint32_t)i, NOW);
        poll(pages, &others[i], NOW); /* idle for longer than his */
    }
    for (i = 0; i < SHARE; i++) {
        his[i] = loaded(pages, HOSTILE, NOW);
        poll(pages, &his[i], NOW + SECONDS(20));
    }
    for (i = 0; i < SHARE - 1; i++) {
        loaded(pages, 100 + (apr_uint32_t)i, later);
    }
    for (i = 0; i < PAGES - SHARE; i++) {
        CU_ASSERT(is_there(pages, &others[i]));
    }
    for (i = 0; i < SHARE; i++) {
        left += is_there(pages, &his[i]);
    }
    CU_ASSERT_EQUAL(left, 1); /* as many as anybody */
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
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

    CU_ADD_TEST(suite, who_loads_without_end_pushes_out_nobody);
    CU_ADD_TEST(suite, who_has_the_most_loses_first);
    CU_ADD_TEST(suite, ids_are_random);
}
