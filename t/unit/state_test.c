/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a page's state: what is stored comes back, and a block that is not a state is no danger. */
#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#include "fixture.h"
#include "page/state.h"
#include "state_fixture.h"
#include "unit.h"

#define MUTATIONS 10000

/* ----------------------------------------------------------------- round trip */

static void what_is_stored_comes_back(void)
{
    apr_pool_t *pool;
    unsigned i;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    for (i = 0; i < STATE_SHAPES; i++) {
        vault_state_t *s = vault_state_create(pool), *back;
        apr_size_t size;
        char *block, *exact;

        state_shapes[i].make(s);
        block = state_encode(s, &size);
        CHECK_ROW(vault_state_bytes(block) <= size && vault_state_bytes(block) % 8 == 0, state_shapes[i].why);
        CHECK_ROW(vault_state_seq(block) == s->seq, state_shapes[i].why);
        size = vault_state_bytes(block);
        exact = malloc(size);
        memcpy(exact, block, size);
        back = vault_state_decode(exact, size, pool);
        CHECK_ROW(back && state_is_same(s, back), state_shapes[i].why);
        free(block);
        free(exact);
    }
    apr_pool_destroy(pool);
}

static void a_block_is_the_same_whatever_was_there_before(void)
{
    apr_pool_t *pool;
    unsigned i;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    for (i = 0; i < STATE_SHAPES; i++) {
        vault_state_t *s = vault_state_create(pool);
        apr_size_t size;
        char *one, *two;

        state_shapes[i].make(s);
        one = state_encode(s, &size);
        two = calloc(1, size);
        vault_state_encode(s, two, size);
        CHECK_ROW(!memcmp(one, two, vault_state_bytes(one)), state_shapes[i].why);
        free(one);
        free(two);
    }
    apr_pool_destroy(pool);
}

/* A URL with its arguments can have a thousand bytes, and a method several cursors. */
static void the_url_of_a_method_is_stored_once(void)
{
    apr_pool_t *pool;
    vault_state_t *s, *back;
    const char *url;
    apr_size_t size;
    char *block;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    s = vault_state_create(pool);
    url = state_repeat(pool, 'u', 1000);
    state_add_method(s, "/first", NULL);
    state_add_method(s, url, NULL);
    state_add_cursor(s, url, "a", "1");
    state_add_cursor(s, apr_pstrdup(pool, url), "b", "2");
    state_add_cursor(s, "", "c", "3");
    block = state_encode(s, &size);
    CU_ASSERT(vault_state_bytes(block) < 1300);
    back = vault_state_decode(block, size, pool);
    CU_ASSERT(back && state_is_same(s, back));
    free(block);
    apr_pool_destroy(pool);
}

static void a_number_is_given_later(void)
{
    apr_pool_t *pool;
    vault_state_t *s, *back;
    apr_size_t size;
    char *block;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    state_usual(s = vault_state_create(pool));
    block = state_encode(s, &size);
    vault_state_number(block, 99, 97);
    CU_ASSERT_EQUAL(vault_state_from(block), 97);
    CU_ASSERT_EQUAL(vault_state_seq(block), 99);
    back = vault_state_decode(block, size, pool);
    CU_ASSERT_PTR_NOT_NULL_FATAL(back);
    CU_ASSERT_EQUAL(back->seq, 99);
    back->seq = s->seq;
    CU_ASSERT(state_is_same(s, back));
    free(block);
    apr_pool_destroy(pool);
}

static void acks_go_and_nothing_else(void)
{
    apr_pool_t *pool;
    vault_state_t *s, *back;
    apr_size_t size;
    char *block;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    state_usual(s = vault_state_create(pool));
    block = state_encode(s, &size);
    CU_ASSERT(vault_state_has_acks(block));
    vault_state_drop_acks(block);
    CU_ASSERT(!vault_state_has_acks(block));
    back = vault_state_decode(block, size, pool);
    CU_ASSERT_PTR_NOT_NULL_FATAL(back);
    CU_ASSERT_EQUAL(back->acks->nelts, 0);
    s->acks->nelts = 0;
    CU_ASSERT(state_is_same(s, back));
    free(block);
    apr_pool_destroy(pool);
}

static void a_block_names_its_interests_and_no_others(void)
{
    static const struct {
        vault_interest_t interest;
        int named;
        const char *why;
    } rows[] = {
        {0, 0, "none"},
        {1, 1, "of a cursor and a method"},
        {256, 1, "the last of the cursor"},
        {257, 1, "of the second method only"},
        {300, 1, "the last"},
        {301, 0, "past the last"},
        {0xffffffffu, 0, "far past it"},
    };
    apr_pool_t *pool;
    vault_state_t *s;
    apr_size_t size;
    char *block;
    unsigned i;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    state_many_deps(s = vault_state_create(pool));
    block = state_encode(s, &size);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK_ROW(vault_state_names(block, rows[i].interest) == rows[i].named, rows[i].why);
    }
    free(block);
    block = state_encode(vault_state_create(pool), &size);
    CU_ASSERT(!vault_state_names(block, 1));
    free(block);
    apr_pool_destroy(pool);
}

/* ------------------------------------------------------------------- harm */

/* Whatever was decoded must be whole: read all of it, store it again, and it is the same. */
static int is_harmless(vault_state_t *s, apr_pool_t *pool)
{
    vault_state_t *again;
    apr_size_t size;
    char *block = state_encode(s, &size);
    int same;

    again = vault_state_decode(block, size, pool);
    same = again && state_is_same(s, again);
    free(block);
    return same;
}

static void every_truncation_is_refused(void)
{
    apr_pool_t *pool, *round;
    vault_state_t *s;
    apr_size_t size, cut;
    char *block;
    int accepted = 0;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    CU_ASSERT_FATAL(apr_pool_create(&round, pool) == APR_SUCCESS);
    state_usual(s = vault_state_create(pool));
    block = state_encode(s, &size);
    size = vault_state_bytes(block);
    for (cut = 0; cut < size; cut++) {
        char *exact = malloc(cut ? cut : 1);

        memcpy(exact, block, cut);
        accepted += vault_state_decode(exact, cut, round) != NULL;
        if (cut >= sizeof(apr_uint32_t) * 2) { /* also when the block says that it is that short */
            apr_uint32_t bytes = (apr_uint32_t)cut;
            memcpy(exact + sizeof(bytes), &bytes, sizeof(bytes));
            accepted += vault_state_decode(exact, cut, round) != NULL;
        }
        free(exact);
        apr_pool_clear(round);
    }
    CU_ASSERT_EQUAL(accepted, 0);
    free(block);
    apr_pool_destroy(pool);
}

static void mutate(char *block, apr_size_t size, unsigned *seed)
{
    static const apr_uint32_t telling[] = {0, 1, 7, 8, 0x7fffffffu, 0x80000000u, 0xfffffff8u, 0xfffffffeu, 0xffffffffu};
    int n = 1 + rand_r(seed) % 4;

    for (; n > 0; n--) {
        apr_size_t at = (apr_size_t)rand_r(seed) % size;
        switch (rand_r(seed) % 3) {
        case 0:
            block[at] = (char)(block[at] ^ 1 << rand_r(seed) % 8);
            break;
        case 1:
            block[at] = (char)rand_r(seed);
            break;
        default:
            at = at / 4 * 4;
            memcpy(block + at, &telling[(unsigned)rand_r(seed) % (sizeof(telling) / sizeof(telling[0]))], 4);
        }
    }
}

static void no_mutation_does_harm(void)
{
    apr_pool_t *pool;
    unsigned seed = 11;
    int i, refused = 0, harmful = 0;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    for (i = 0; i < MUTATIONS; i++) {
        vault_state_t *s = vault_state_create(pool);
        apr_size_t size;
        char *block;

        (i % 4 ? state_usual : state_many_deps)(s);
        block = state_encode(s, &size);
        mutate(block, size, &seed);
        s = vault_state_decode(block, size, pool);
        refused += s == NULL;
        harmful += s && !is_harmless(s, pool);
        free(block);
        apr_pool_clear(pool);
    }
    CU_ASSERT_EQUAL(harmful, 0);
    CU_ASSERT(refused > MUTATIONS / 20 && refused < MUTATIONS); /* else the mutations say nothing */
    apr_pool_destroy(pool);
}

static void a_refusal_that_cannot_be_is_refused(void)
{
    static const struct {
        vault_refusal_t refusal;
        int accepted;
        const char *why;
    } rows[] = {
        {{300, 0, 0}, 1, "the lowest"},
        {{499, VAULT_REFUSAL_MOST, 1}, 1, "the highest, and the longest rest"},
        {{299, 30, 1}, 0, "a status of success"},
        {{500, 30, 1}, 0, "a status of failure"},
        {{401, VAULT_REFUSAL_MOST + 1, 1}, 0, "too long a rest"},
        {{401, 30, -1}, 0, "a time before all times"},
        {{0, 1, 0}, 0, "a rest of a method that is not refused"},
    };
    apr_pool_t *pool;
    unsigned i;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        vault_state_t *s = vault_state_create(pool);
        apr_size_t size;
        char *block;

        state_add_method(s, "/m", NULL)->refusal = rows[i].refusal;
        block = state_encode(s, &size);
        CHECK_ROW((vault_state_decode(block, size, pool) != NULL) == rows[i].accepted, rows[i].why);
        free(block);
    }
    apr_pool_destroy(pool);
}

static void a_reason_that_cannot_be_is_refused(void)
{
    apr_pool_t *pool;
    vault_state_t *s;
    apr_size_t size;
    char *block;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    s = vault_state_create(pool);
    state_add_method(s, "/m", NULL)->personal = VAULT_PERSONAL_COUNT;
    block = state_encode(s, &size);
    CU_ASSERT_PTR_NULL(vault_state_decode(block, size, pool));
    free(block);
    apr_pool_destroy(pool);
}

/* -------------------------------------------------------------------- look-up */

static void a_refused_method_rests_until_its_time(void)
{
    static const struct {
        vault_refusal_t refusal;
        apr_time_t at;
        int rests;
        const char *why;
    } rows[] = {
        {{0, 0, 0}, 5, 0, "it is not refused"},
        {{401, 30, apr_time_from_sec(40)}, apr_time_from_sec(10), 1, "it has just been refused"},
        {{401, 30, apr_time_from_sec(40)}, apr_time_from_sec(39) - 1, 1, "more than a second is left"},
        {{401, 30, apr_time_from_sec(40)}, apr_time_from_sec(39), 0, "a second is left"},
        {{401, 30, apr_time_from_sec(40)}, apr_time_from_sec(400), 0, "long after"},
        {{401, 0, 0}, 1, 0, "it need not rest"},
    };
    unsigned i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        vault_method_t m = {.refusal = rows[i].refusal};
        CHECK_ROW(vault_method_rests(&m, rows[i].at) == rows[i].rests, rows[i].why);
    }
}

static void a_property_is_set_changed_and_removed(void)
{
    apr_pool_t *pool;
    vault_state_t *s;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    s = vault_state_create(pool);
    vault_state_set(s, "none", NULL);
    CU_ASSERT_EQUAL(s->properties->nelts, 0);
    vault_state_set(s, "a", "1");
    vault_state_set(s, "b", "2");
    vault_state_set(s, "c", "3");
    vault_state_set(s, "a", "4");
    CU_ASSERT_EQUAL(s->properties->nelts, 3);
    CU_ASSERT_STRING_EQUAL(vault_state_property(s, "a")->value, "4");
    vault_state_set(s, "a", NULL);
    CU_ASSERT_PTR_NULL(vault_state_property(s, "a"));
    CU_ASSERT_STRING_EQUAL(vault_state_property(s, "b")->value, "2");
    CU_ASSERT_STRING_EQUAL(vault_state_property(s, "c")->value, "3");
    vault_state_set(s, "c", NULL);
    vault_state_set(s, "b", NULL);
    CU_ASSERT_EQUAL(s->properties->nelts, 0);
    apr_pool_destroy(pool);
}

static void what_is_not_there_is_not_found(void)
{
    apr_pool_t *pool;
    vault_state_t *s;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    state_usual(s = vault_state_create(pool));
    CU_ASSERT_STRING_EQUAL(vault_state_cursor(s, "", "db/get?t=logs")->value, "41");
    CU_ASSERT_STRING_EQUAL(vault_state_cursor(s, "/logs", "db/get?t=logs")->value, "42");
    CU_ASSERT_PTR_NULL(vault_state_cursor(s, "/other", "db/get?t=logs"));
    CU_ASSERT_PTR_NULL(vault_state_cursor(s, "/logs", "db/get?t=log"));
    CU_ASSERT_EQUAL(vault_deps_find(vault_state_method(s, "/logs")->deps, 4)->interest, 4);
    CU_ASSERT_PTR_NULL(vault_deps_find(vault_state_method(s, "/logs")->deps, 5));
    CU_ASSERT_PTR_NULL(vault_deps_find(NULL, 3));
    CU_ASSERT_PTR_NULL(vault_state_method(s, "/log"));
    CU_ASSERT_PTR_NULL(vault_state_property(s, ""));
    apr_pool_destroy(pool);
}

void vault_state_suite(void)
{
    CU_pSuite suite = CU_add_suite("state", NULL, NULL);

    CU_ADD_TEST(suite, what_is_stored_comes_back);
    CU_ADD_TEST(suite, a_block_is_the_same_whatever_was_there_before);
    CU_ADD_TEST(suite, the_url_of_a_method_is_stored_once);
    CU_ADD_TEST(suite, a_number_is_given_later);
    CU_ADD_TEST(suite, acks_go_and_nothing_else);
    CU_ADD_TEST(suite, a_block_names_its_interests_and_no_others);
    CU_ADD_TEST(suite, every_truncation_is_refused);
    CU_ADD_TEST(suite, no_mutation_does_harm);
    CU_ADD_TEST(suite, a_refusal_that_cannot_be_is_refused);
    CU_ADD_TEST(suite, a_reason_that_cannot_be_is_refused);
    CU_ADD_TEST(suite, a_refused_method_rests_until_its_time);
    CU_ADD_TEST(suite, a_property_is_set_changed_and_removed);
    CU_ADD_TEST(suite, what_is_not_there_is_not_found);
}
