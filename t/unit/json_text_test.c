/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of JSON as text: jansson writes the same bytes, and reads them back. */
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/text.h"
#include "base/utf8.h"
#include "fixture.h"
#include "unit.h"

/* @return what the writer makes of a string; for vault_text_free() */
static char *write_string(const char *s, apr_size_t length)
{
    vault_json_text_t t = {.text = NULL};

    vault_json_text_string(&t, s, length);
    return vault_json_text_end(&t);
}

static int is_as_jansson(const char *s, apr_size_t length)
{
    json_t *value = json_stringn(s, length);
    char *expected = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY), *text = write_string(s, length);
    int same = expected && text && !strcmp(expected, text);

    free(expected);
    vault_text_free(text);
    json_decref(value);
    return same;
}

static void every_byte_is_written_as_jansson_does(void)
{
    char s[3] = "a?z";
    int c;

    for (c = 0; c < 128; c++) {
        s[1] = (char)c;
        CU_ASSERT(is_as_jansson(s, 3));
        CU_ASSERT(is_as_jansson(s + 1, 1));
    }
}

static void strings_are_written_as_jansson_does(void)
{
    static const struct row_t {
        const char *s;
        apr_size_t length;
        const char *why;
    } rows[] = {
        {"", 0, "nothing"},
        {"a\0b", 3, "a NUL amid"},
        {"\0", 1, "a NUL alone"},
        {"\"\"\\\\", 4, "escapes alone"},
        {"<p class=\"a\">\n\tx</p>\r\n", 23, "HTML"},
        {"</script>", 9, "a slash is no escape"},
        {"\x7f", 1, "DEL is none"},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 9, "characters of two, three and four bytes"},
        {"\xe2\x80\xa8\xe2\x80\xa9", 6, "the separators of lines that JavaScript had trouble with"},
    };
    unsigned i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CU_ASSERT(is_as_jansson(rows[i].s, rows[i].length));
    }
}

#define TEXTS 2000
#define LENGTH 5000

/* Longer than the room that a writer begins with, and at every length around it. */
static void texts_of_any_length_are_written_as_jansson_does(void)
{
    unsigned seed = 7, wrong = 0, i, k;
    apr_pool_t *pool;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    for (i = 0; i < TEXTS; i++) {
        char text[LENGTH];
        apr_size_t length = (apr_size_t)rand_r(&seed) % (LENGTH + 1), clean;
        const char *s;
        for (k = 0; k < length; k++) {
            text[k] = (char)(rand_r(&seed) % (i % 2 ? 128 : 256));
        }
        s = vault_utf8_clean(text, length, &clean, pool);
        wrong += !is_as_jansson(s, clean);
        apr_pool_clear(pool);
    }
    for (i = 900; i < 1300; i++) {
        char text[1300];
        memset(text, i % 3 ? 'x' : '\n', i);
        wrong += !is_as_jansson(text, i);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    apr_pool_destroy(pool);
}

static void numbers_are_decimal(void)
{
    static const struct row_t {
        apr_uint64_t n;
        const char *text;
    } rows[] = {
        {0, "0"},
        {7, "7"},
        {10, "10"},
        {9007199254740991, "9007199254740991"},
        {~(apr_uint64_t)0, "18446744073709551615"},
    };
    unsigned i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        vault_json_text_t t = {.text = NULL};
        char *text;
        vault_json_text_number(&t, rows[i].n);
        text = vault_json_text_end(&t);
        CU_ASSERT_STRING_EQUAL(text, rows[i].text);
        vault_text_free(text);
    }
}

static void parts_come_one_after_the_other(void)
{
    vault_json_text_t t = {.text = NULL};
    char *text;

    vault_json_text_raw(&t, "{\"seq\":");
    vault_json_text_number(&t, 12);
    vault_json_text_raw(&t, ",\"a\":");
    vault_json_text_value(&t, json_pack("[s, {s:b}]", "x", "y", 1));
    vault_json_text_raw(&t, "}");
    text = vault_json_text_end(&t);
    CU_ASSERT_STRING_EQUAL(text, "{\"seq\":12,\"a\":[\"x\",{\"y\":true}]}");
    vault_text_free(text);
    text = vault_json_text_end(&t);
    CU_ASSERT_STRING_EQUAL(text, ""); /* it begins anew */
    vault_text_free(text);
}

static void a_text_takes_what_another_has(void)
{
    vault_json_text_t t = {.text = NULL}, other = {.text = NULL}, lost = {.lost = 1};
    char *text;

    vault_json_text_bytes(&other, "1,2,3", 3);
    vault_json_text_raw(&t, "[");
    vault_json_text_take(&t, &other);
    vault_json_text_take(&t, &other); /* it has nothing any more */
    vault_json_text_raw(&t, "]");
    text = vault_json_text_end(&t);
    CU_ASSERT_STRING_EQUAL(text, "[1,2]");
    vault_text_free(text);
    vault_json_text_raw(&t, "[");
    vault_json_text_take(&t, &lost);
    CU_ASSERT_PTR_NULL(vault_json_text_end(&t));
    vault_json_text_raw(&t, "[");
    vault_json_text_drop(&t);
    CU_ASSERT_PTR_NULL(t.text);
}

/* A client may be slow to read: then the room beyond the text would be kept for nothing. */
static void a_long_text_keeps_no_room(void)
{
    vault_json_text_t t = {.text = NULL};
    apr_size_t i, n = 100000;
    char *text;

    for (i = 0; i < n; i++) {
        vault_json_text_raw(&t, "0123456789");
    }
    text = vault_json_text_end(&t);
    CU_ASSERT_EQUAL(strlen(text), 10 * n);
    CU_ASSERT(vault_text_capacity(text) <= 10 * n + 16 * 1024);
    vault_text_free(text);
}

static void what_cannot_be_json_loses_the_whole(void)
{
    vault_json_text_t t = {.text = NULL};

    vault_json_text_raw(&t, "[");
    vault_json_text_value(&t, json_string("\xff"));
    vault_json_text_raw(&t, "]");
    CU_ASSERT_PTR_NULL(vault_json_text_end(&t));
}

void vault_json_text_suite(void)
{
    CU_pSuite suite = CU_add_suite("json_text", NULL, NULL);

    CU_ADD_TEST(suite, every_byte_is_written_as_jansson_does);
    CU_ADD_TEST(suite, strings_are_written_as_jansson_does);
    CU_ADD_TEST(suite, texts_of_any_length_are_written_as_jansson_does);
    CU_ADD_TEST(suite, numbers_are_decimal);
    CU_ADD_TEST(suite, parts_come_one_after_the_other);
    CU_ADD_TEST(suite, a_text_takes_what_another_has);
    CU_ADD_TEST(suite, a_long_text_keeps_no_room);
    CU_ADD_TEST(suite, what_cannot_be_json_loses_the_whole);
}
