/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of text in blocks: what is written stays while they grow and shrink, and long ones go back to the system. */
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "unit.h"

#define MB ((apr_size_t)1024 * 1024)

static char byte_at(apr_size_t i)
{
    return (char)('a' + i % 23);
}

static void fill(char *text, apr_size_t from, apr_size_t to)
{
    for (; from < to; from++) {
        text[from] = byte_at(from);
    }
}

static int is_filled(const char *text, apr_size_t to)
{
    apr_size_t i;

    for (i = 0; i < to && text[i] == byte_at(i); i++) {
    }
    return i == to;
}

static void what_is_written_stays(void)
{
    static const apr_size_t capacities[] = {1,      100,    100,    70000,       131071, 131072, 131073, 200000, MB,
                                            5 * MB, 6 * MB, 300000, 131072 - 24, 131000, 10,     9,      4 * MB, 50};
    char *text = NULL;
    apr_size_t i, had = 0;

    for (i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++) {
        text = vault_text_resize(text, capacities[i]);
        CU_ASSERT_PTR_NOT_NULL_FATAL(text);
        CU_ASSERT(vault_text_capacity(text) == capacities[i]);
        CU_ASSERT(is_filled(text, had < capacities[i] ? had : capacities[i]));
        fill(text, 0, capacities[i]);
        had = capacities[i];
    }
    vault_text_free(text);
    vault_text_free(NULL);
}

static void what_cannot_be_had_changes_nothing(void)
{
    char *small = vault_text_resize(NULL, 100), *large = vault_text_resize(NULL, MB);

    fill(small, 0, 100);
    fill(large, 0, MB);
    CU_ASSERT_PTR_NULL(vault_text_resize(NULL, APR_SIZE_MAX));
    CU_ASSERT_PTR_NULL(vault_text_resize(small, APR_SIZE_MAX / 2));
    CU_ASSERT_PTR_NULL(vault_text_resize(large, APR_SIZE_MAX / 2));
    CU_ASSERT(is_filled(small, 100));
    CU_ASSERT(is_filled(large, MB));
    vault_text_free(small);
    vault_text_free(large);
}

static apr_size_t told, times;

static void count(apr_uint32_t which, apr_size_t amount)
{
    told = which * 1000 + amount;
    times++;
}

static void who_wants_to_know_is_told_once(void)
{
    char *text = vault_text_resize(NULL, 10);

    times = 0;
    vault_text_on_free(text, count, 7, 42);
    text = vault_text_resize(text, MB); /* it moves, and is the same */
    CU_ASSERT_EQUAL(times, 0);
    vault_text_free(text);
    CU_ASSERT_EQUAL(times, 1);
    CU_ASSERT_EQUAL(told, 7042);
    text = vault_text_resize(NULL, 10);
    vault_text_free(text);
    CU_ASSERT_EQUAL(times, 1);
}

/* Anonymous memory of this process, in bytes. */
static apr_size_t resident(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    apr_size_t kb = 0;

    while (file && !kb && fgets(line, sizeof(line), file)) {
        if (!strncmp(line, "RssAnon:", 8)) {
            kb = strtoul(line + 8, NULL, 10);
        }
    }
    if (file) {
        fclose(file);
    }
    return kb * 1024;
}

/* With malloc() the second time would be another matter than the first. */
static void long_texts_go_back_to_the_system(void)
{
    apr_size_t before, i, k;
    char *texts[16];

    before = resident();
    for (k = 0; k < 3; k++) {
        for (i = 0; i < 16; i++) {
            texts[i] = vault_text_resize(NULL, 4 * MB);
            CU_ASSERT_PTR_NOT_NULL_FATAL(texts[i]);
            memset(texts[i], 'x', 4 * MB);
        }
        CU_ASSERT(resident() > before + 60 * MB);
        for (i = 0; i < 16; i++) {
            vault_text_free(texts[i]);
        }
        CU_ASSERT(resident() < before + 4 * MB);
    }
}

void vault_text_suite(void)
{
    CU_pSuite suite = CU_add_suite("text", NULL, NULL);

    CU_ADD_TEST(suite, what_is_written_stays);
    CU_ADD_TEST(suite, what_cannot_be_had_changes_nothing);
    CU_ADD_TEST(suite, who_wants_to_know_is_told_once);
    CU_ADD_TEST(suite, long_texts_go_back_to_the_system);
}
