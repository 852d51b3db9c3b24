/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of text made safe for JSON: what is UTF-8 stays as it is, all else becomes U+FFFD, whatever the bytes. */
#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#include "base/utf8.h"
#include "fixture.h"
#include "unit.h"

#define R "\xef\xbf\xbd"
#define RANDOM_TEXTS 20000
#define RANDOM_LENGTH 24

/* Clean a copy that ends where its memory ends, so that a sanitizer sees who reads past it. */
static const char *clean(const char *text, apr_size_t length, apr_size_t *out, int *same, apr_pool_t *pool)
{
    char *exact = malloc(length ? length : 1);
    const char *result;

    memcpy(exact, text, length);
    result = vault_utf8_clean(exact, length, out, pool);
    *same = result == exact;
    result = apr_pmemdup(pool, result, *out + 1 - (apr_size_t)*same);
    free(exact);
    return result;
}

static void what_is_not_utf8_is_replaced(void)
{
#define ROW(in, expected, why)                                                                                         \
    {                                                                                                                  \
        in, sizeof(in) - 1, expected, sizeof(expected) - 1, why                                                        \
    }
    static const struct {
        const char *in;
        apr_size_t length;
        const char *expected;
        apr_size_t expected_length;
        const char *why;
    } rows[] = {
        ROW("", "", "nothing"),
        ROW("plain", "plain", "ASCII"),
        ROW("a\0b", "a\0b", "NUL is a character as any other"),
        ROW("\x01\x7f", "\x01\x7f", "controls are JSON's to escape"),
        ROW("gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f", "two bytes a character"),
        ROW("\xc2\x80\xdf\xbf", "\xc2\x80\xdf\xbf", "the least and the greatest of two bytes"),
        ROW("\xe0\xa0\x80\xef\xbf\xbf", "\xe0\xa0\x80\xef\xbf\xbf", "the least and the greatest of three bytes"),
        ROW("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
            "the least and the greatest of four bytes"),
        ROW("\xed\x9f\xbf\xee\x80\x80", "\xed\x9f\xbf\xee\x80\x80", "the neighbours of the surrogates"),
        ROW("\x80", R, "a tail without a head"),
        ROW("a\xc3", "a" R, "cut within two bytes"),
        ROW("\xe2\x82", R R, "cut within three bytes"),
        ROW("\xf0\x9f\x98", R R R, "cut within four bytes"),
        ROW("\xc3(", R "(", "a head without its tail: the next character is kept"),
        ROW("\xe2\x82z", R R "z", "the tail ends early"),
        ROW("\xc0\xaf", R R, "an overlong slash in two bytes"),
        ROW("\xc1\xbf", R R, "overlong in two bytes"),
        ROW("\xe0\x80\xaf", R R R, "overlong in three bytes"),
        ROW("\xe0\x9f\xbf", R R R, "the greatest overlong in three bytes"),
        ROW("\xf0\x8f\xbf\xbf", R R R R, "the greatest overlong in four bytes"),
        ROW("\xed\xa0\x80", R R R, "the first surrogate"),
        ROW("\xed\xbf\xbf", R R R, "the last surrogate"),
        ROW("\xf4\x90\x80\x80", R R R R, "above U+10FFFF"),
        ROW("\xf5\x80\x80\x80", R R R R, "a head that none may be"),
        ROW("\xfe\xff", R R, "bytes that are never used"),
        ROW("ok\xff"
            "ok\xc3\xa4",
            "ok" R "ok\xc3\xa4", "good, bad, good"),
        ROW("sixteen ASCII ch\xff", "sixteen ASCII ch" R, "after characters that are looked at eight at a time"),
        ROW("sixteen\xe2\x82\xac ASCII\x80h", "sixteen\xe2\x82\xac ASCII" R "h", "among them"),
    };
#undef ROW
    apr_pool_t *pool;
    unsigned i;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        apr_size_t out = 99;
        int same, unchanged = rows[i].length == rows[i].expected_length &&
                              !memcmp(rows[i].in, rows[i].expected, rows[i].length);
        const char *result = clean(rows[i].in, rows[i].length, &out, &same, pool);

        CHECK_ROW(out == rows[i].expected_length && !memcmp(result, rows[i].expected, out), rows[i].why);
        CHECK_ROW(same == unchanged, rows[i].why);
        CHECK_ROW(same || result[out] == '\0', rows[i].why);
    }
    apr_pool_destroy(pool);
}

static unsigned put_character(char *at, apr_uint32_t c)
{
    if (c < 0x80) {
        at[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        at[0] = (char)(0xc0 | c >> 6);
        at[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        at[0] = (char)(0xe0 | c >> 12);
        at[1] = (char)(0x80 | (c >> 6 & 0x3f));
        at[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    at[0] = (char)(0xf0 | c >> 18);
    at[1] = (char)(0x80 | (c >> 12 & 0x3f));
    at[2] = (char)(0x80 | (c >> 6 & 0x3f));
    at[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* All of them, the surrogates and a plane that there is not as well. */
static void every_character_is_kept_and_nothing_else(void)
{
    apr_pool_t *pool;
    apr_uint32_t c;
    int wrong = 0;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    for (c = 0; c < 0x120000; c++) {
        char text[4];
        apr_size_t out, length = put_character(text, c);
        int is_character = c <= 0x10ffff && !(c >= 0xd800 && c <= 0xdfff);
        const char *result = vault_utf8_clean(text, length, &out, pool);

        wrong += is_character ? result != text || out != length : out != 3 * length;
        if (!is_character) {
            apr_pool_clear(pool);
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    apr_pool_destroy(pool);
}

static void random_bytes(char *text, apr_size_t length, unsigned *seed)
{
    static const unsigned char likely[] = {0x80, 0xbf, 0xc2, 0xe0, 0xa0, 0xed, 0x9f, 0xf0, 0x90, 0xf4, 0x8f, 'x'};
    apr_size_t i;

    for (i = 0; i < length; i++) {
        int r = rand_r(seed);
        text[i] = (char)(r & 1 ? r >> 8 : likely[(unsigned)(r >> 8) % sizeof(likely)]);
    }
}

static void what_was_cleaned_is_clean(void)
{
    apr_pool_t *pool;
    unsigned seed = 3;
    int i, wrong = 0;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    for (i = 0; i < RANDOM_TEXTS; i++) {
        char text[RANDOM_LENGTH];
        apr_size_t length = (apr_size_t)rand_r(&seed) % (RANDOM_LENGTH + 1), out, again;
        const char *result;
        int same;

        random_bytes(text, length, &seed);
        result = clean(text, length, &out, &same, pool);
        wrong += out < length || out > 3 * length;
        wrong += vault_utf8_clean(result, out, &again, pool) != result || again != out;
        apr_pool_clear(pool);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    apr_pool_destroy(pool);
}

void vault_utf8_suite(void)
{
    CU_pSuite suite = CU_add_suite("utf8", NULL, NULL);

    CU_ADD_TEST(suite, what_is_not_utf8_is_replaced);
    CU_ADD_TEST(suite, every_character_is_kept_and_nothing_else);
    CU_ADD_TEST(suite, what_was_cleaned_is_clean);
}
