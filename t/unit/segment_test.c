/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the shared memory and how it is cut up. */
#include <string.h>

#include "fixture.h"
#include "shm/clock.h"
#include "unit.h"

#define SIZE 8192

static vault_segment_t *segment_of(apr_pool_t **pool, apr_uint64_t size)
{
    vault_limits_t limits = {size, 3, 4, 5, 0};
    vault_segment_t *segment;

    CU_ASSERT_FATAL(apr_pool_create(pool, NULL) == APR_SUCCESS);
    CU_ASSERT_FATAL(vault_segment_create(&segment, &limits, *pool) == APR_SUCCESS);
    return segment;
}

static void what_is_carved_is_aligned_and_zero(void)
{
    apr_pool_t *pool;
    vault_segment_t *segment = segment_of(&pool, SIZE);
    static const char zeros[100];
    vault_off_t a = vault_segment_carve(segment, 100), b = vault_segment_carve(segment, 1);

    CU_ASSERT(a != 0 && b >= a + 100);
    CU_ASSERT_EQUAL(a % 64 + b % 64, 0);
    CU_ASSERT_EQUAL((apr_uintptr_t)vault_segment_at(segment, a, 100) % 64, 0);
    CU_ASSERT(memcmp(vault_segment_at(segment, a, 100), zeros, 100) == 0);
    apr_pool_destroy(pool);
}

static void it_gives_what_is_left_and_no_more(void)
{
    apr_pool_t *pool;
    vault_segment_t *segment = segment_of(&pool, SIZE + 7);
    apr_uint64_t left = vault_segment_left(segment);
    vault_off_t all;

    CU_ASSERT(left > SIZE / 2 && left < SIZE + 7);
    CU_ASSERT_EQUAL(vault_segment_carve(segment, left + 1), 0);
    CU_ASSERT_EQUAL(vault_segment_carve(segment, APR_UINT64_MAX), 0);
    CU_ASSERT_EQUAL(vault_segment_carve(segment, 0), 0);
    CU_ASSERT_EQUAL(vault_segment_left(segment), left);
    all = vault_segment_carve(segment, left);
    CU_ASSERT_EQUAL(all + left, SIZE + 7);
    memset(vault_segment_at(segment, all, left), 1, left);
    CU_ASSERT_EQUAL(vault_segment_left(segment), 0);
    CU_ASSERT_EQUAL(vault_segment_carve(segment, 1), 0);
    apr_pool_destroy(pool);
}

static void places_outside_have_no_address(void)
{
    static const struct {
        vault_off_t off;
        apr_uint64_t size;
        int inside;
        const char *why;
    } rows[] = {
        {0, 1, 0, "0 is no place"},
        {64, 1, 1, "inside"},
        {SIZE - 1, 1, 1, "the last byte"},
        {SIZE - 1, 2, 0, "one byte too many"},
        {SIZE, 1, 0, "past the end"},
        {64, SIZE, 0, "longer than what follows"},
        {64, APR_UINT64_MAX, 0, "a sum that overflows"},
        {APR_UINT64_MAX, 1, 0, "a place that overflows"},
        {APR_UINT64_MAX - 63, 64, 0, "a sum that overflows to 0"},
    };
    apr_pool_t *pool;
    vault_segment_t *segment = segment_of(&pool, SIZE);
    unsigned i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        void *at = vault_segment_at(segment, rows[i].off, rows[i].size);

        CHECK_ROW((at != NULL) == rows[i].inside, rows[i].why);
    }
    apr_pool_destroy(pool);
}

static void sizes_that_cannot_be_are_refused(void)
{
    vault_limits_t limits = {8, 1, 1, 1, 0};
    vault_segment_t *segment;
    apr_pool_t *pool;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_segment_create(&segment, &limits, pool), APR_EINVAL);
    limits.size = APR_UINT64_MAX;
    CU_ASSERT_EQUAL(vault_segment_create(&segment, &limits, pool), APR_ENOMEM);
    CU_ASSERT_PTR_NULL(segment);
    apr_pool_destroy(pool);
}

static void outputs_have_memory_beside_the_rest(void)
{
    vault_limits_t limits = {SIZE, 3, 4, 5, SIZE};
    vault_segment_t *segment, *other;
    apr_pool_t *pool, *other_pool;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    CU_ASSERT_FATAL(vault_segment_create(&segment, &limits, pool) == APR_SUCCESS);
    other = segment_of(&other_pool, SIZE);
    CU_ASSERT_EQUAL(vault_segment_left(segment), vault_segment_left(other) + SIZE);
    CU_ASSERT_EQUAL(vault_segment_limits(segment)->size, SIZE);
    limits.others = APR_UINT64_MAX;
    CU_ASSERT_EQUAL(vault_segment_create(&segment, &limits, pool), APR_ENOMEM);
    apr_pool_destroy(pool);
    apr_pool_destroy(other_pool);
}

static void it_tells_what_it_was_made_for(void)
{
    apr_pool_t *pool, *other_pool;
    vault_segment_t *segment = segment_of(&pool, SIZE), *other = segment_of(&other_pool, SIZE);
    const vault_limits_t *limits = vault_segment_limits(segment);

    CU_ASSERT(limits->size == SIZE && limits->interests == 3 && limits->pages == 4 && limits->slots == 5);
    CU_ASSERT(vault_segment_boot(segment) != 0);
    CU_ASSERT(vault_segment_boot(segment) != vault_segment_boot(other));
    apr_pool_destroy(pool);
    apr_pool_destroy(other_pool);
}

static void the_floor_never_sinks(void)
{
    apr_pool_t *pool;
    vault_clock_t *clock = vault_segment_clock(segment_of(&pool, SIZE));

    CU_ASSERT_EQUAL(clock->now, 1);
    CU_ASSERT_EQUAL(vault_clock_floor(clock), 0);
    vault_clock_raise(clock);
    CU_ASSERT_EQUAL(vault_clock_floor(clock), 2);
    clock->floor = 100; /* another raised it meanwhile, with a later number */
    vault_clock_raise(clock);
    CU_ASSERT_EQUAL(vault_clock_floor(clock), 100);
    CU_ASSERT_EQUAL(vault_clock_tick(clock), 4);
    apr_pool_destroy(pool);
}

void vault_segment_suite(void)
{
    CU_pSuite suite = CU_add_suite("segment", NULL, NULL);

    CU_ADD_TEST(suite, what_is_carved_is_aligned_and_zero);
    CU_ADD_TEST(suite, it_gives_what_is_left_and_no_more);
    CU_ADD_TEST(suite, places_outside_have_no_address);
    CU_ADD_TEST(suite, sizes_that_cannot_be_are_refused);
    CU_ADD_TEST(suite, outputs_have_memory_beside_the_rest);
    CU_ADD_TEST(suite, it_tells_what_it_was_made_for);
    CU_ADD_TEST(suite, the_floor_never_sinks);
}
