/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the names of pages: how ids are shortened, and how a page is found by its name. */
#include <stdio.h>
#include <string.h>

#include "apr_strings.h"

#include "page/page_name.h"
#include "page_fixture.h"
#include "unit.h"

#define ID "0123456789abcdef0123456789abcdef01234567"
#define NAME "0123456789ab"

static void ids_are_shortened_in_any_text(void)
{
    static const struct {
        const char *text, *shown, *why;
    } rows[] = {
        {"", "", "nothing"},
        {"GET / HTTP/1.1", "GET / HTTP/1.1", "no id"},
        {ID, NAME, "an id alone"},
        {"GET /vault/poll?page=" ID "&seq=1 HTTP/1.1", "GET /vault/poll?page=" NAME "&seq=1 HTTP/1.1", "a poll"},
        {"?pages=" ID ".1." ID "," ID ".2", "?pages=" NAME ".1." NAME "," NAME ".2", "several"},
        {"page:" ID, "page:" NAME, "the interest of a page"},
        {"?page%3d" ID "x", "?page%3d0123456789x", "digits that stand before it: fewer of it are shown"},
        {ID "0", NAME, "a digit behind it"},
        {ID ID, NAME, "two in one"},
        {"0123456789abcdef0123456789abcdef0123456", "0123456789abcdef0123456789abcdef0123456",
         "a digit short of an id"},
        {"0123456789ABCDEF0123456789ABCDEF01234567", "0123456789ABCDEF0123456789ABCDEF01234567",
         "no page has such an id"},
        {"0123456789abcdef0123456789abcdef.01234567", "0123456789abcdef0123456789abcdef.01234567",
         "the nonce of a tab"},
    };
    apr_pool_t *pool;
    unsigned i;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *shown = vault_page_shorten(rows[i].text, pool);
        CHECK_ROW(!strcmp(shown, rows[i].shown), rows[i].why);
        CHECK_ROW((shown == rows[i].text) == !strcmp(rows[i].text, rows[i].shown), "text without an id is not copied");
    }
    CU_ASSERT_PTR_NULL(vault_page_shorten(NULL, pool));
    apr_pool_destroy(pool);
}

static int same(const vault_page_t *a, const vault_page_t *b)
{
    return a->id[0] == b->id[0] && a->id[1] == b->id[1] && a->index == b->index;
}

static void a_page_is_found_by_its_name(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page[3], found;
    char id[3][VAULT_PAGE_ID_LEN + 1], name[VAULT_PAGE_NAME_LEN + 1], part[VAULT_PAGE_ID_LEN + 1];
    unsigned i, length;

    pages_begin(&f, &pages, 3, 256 * 1024);
    for (i = 0; i < 3; i++) {
        CU_ASSERT_FATAL(vault_page_create(pages, &page[i], NULL, NOW, IDLE) == APR_SUCCESS);
        vault_page_format(&page[i], id[i]);
    }
    vault_page_name(&page[1], name);
    CU_ASSERT(strlen(name) == VAULT_PAGE_NAME_LEN && !strncmp(name, id[1], VAULT_PAGE_NAME_LEN));
    CU_ASSERT_EQUAL(vault_page_find(pages, &found, name), APR_SUCCESS);
    CU_ASSERT(same(&found, &page[1]));
    CU_ASSERT_EQUAL(vault_page_find(pages, &found, id[2]), APR_SUCCESS);
    CU_ASSERT(same(&found, &page[2]));
    for (length = 0; length < VAULT_PAGE_ID_LEN; length++) {
        apr_status_t rv;
        apr_cpystrn(part, id[1], length + 1);
        rv = vault_page_find(pages, &found, part);
        CHECK_ROW(length && length <= VAULT_PAGE_NAME_LEN ? rv == APR_SUCCESS || rv == APR_EEXIST : rv == APR_EINVAL,
                  "a beginning of the name finds it, a longer one says nothing");
    }
    CU_ASSERT_EQUAL(vault_page_find(pages, &found, "x"), APR_EINVAL);
    CU_ASSERT_EQUAL(vault_page_find(pages, &found, "0123456789AB"), APR_EINVAL);
    vault_page_drop(pages, &page[1]);
    CU_ASSERT_EQUAL(vault_page_find(pages, &found, name), APR_NOTFOUND);
    CU_ASSERT_EQUAL(vault_page_find(pages, &found, id[1]), APR_SUCCESS);
    vault_page_drop(pages, &page[0]);
    pages_end(&f, pages, &page[2]);
}

/* Of 17 pages at least two begin with the same digit. */
static void what_fits_several_pages_finds_none(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page[17], found;
    char digit[2];
    unsigned i, several = 0;

    pages_begin(&f, &pages, 17, 256 * 1024);
    for (i = 0; i < 17; i++) {
        CU_ASSERT_FATAL(vault_page_create(pages, &page[i], NULL, NOW, IDLE) == APR_SUCCESS);
    }
    for (i = 0; i < 16; i++) {
        apr_snprintf(digit, sizeof(digit), "%x", i);
        several += vault_page_find(pages, &found, digit) == APR_EEXIST;
    }
    CU_ASSERT(several >= 1);
    for (i = 0; i < 17; i++) {
        vault_page_drop(pages, &page[i]);
    }
    pages_end(&f, pages, NULL);
}

void vault_page_name_suite(void)
{
    CU_pSuite suite = CU_add_suite("page_name", NULL, NULL);

    CU_ADD_TEST(suite, ids_are_shortened_in_any_text);
    CU_ADD_TEST(suite, a_page_is_found_by_its_name);
    CU_ADD_TEST(suite, what_fits_several_pages_finds_none);
}
