/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the spare blocks: what one connection gives the next one gets, and the process keeps no more than it says. */
#include <string.h>

#include "apr_thread_proc.h"

#include "base/spare.h"
#include "fixture.h"
#include "unit.h"

/* As httpd has it unless configured. */
#define MAX_FREE (2048 * 1024)

static apr_allocator_t *make_allocator(void)
{
    apr_allocator_t *allocator;

    CU_ASSERT_FATAL(apr_allocator_create(&allocator) == APR_SUCCESS);
    apr_allocator_max_free_set(allocator, MAX_FREE);
    return allocator;
}

/* An allocator that keeps `count` free blocks. @param blocks  which, or NULL */
static apr_allocator_t *make_with(unsigned count, apr_memnode_t **blocks)
{
    apr_allocator_t *allocator = make_allocator();
    apr_memnode_t *list = NULL;
    unsigned i;

    for (i = 0; i < count; i++) {
        apr_memnode_t *block = apr_allocator_alloc(allocator, 1);
        block->next = list;
        list = block;
        if (blocks) {
            blocks[i] = block;
        }
    }
    if (list) {
        apr_allocator_free(allocator, list);
    }
    return allocator;
}

static void give_and_end(apr_allocator_t *allocator)
{
    CU_ASSERT(vault_spare_give(allocator, MAX_FREE) == VAULT_SPARE_GIVEN);
    apr_allocator_destroy(allocator);
}

/* What other suites have left there. */
static void take_all(void)
{
    apr_allocator_t *allocator = make_allocator();

    while (vault_spare_take(allocator, 1)) {
    }
    CU_ASSERT(vault_spare_count() == 0);
    apr_allocator_destroy(allocator);
}

static int is_among(const apr_memnode_t *block, apr_memnode_t *const *blocks)
{
    unsigned i;

    for (i = 0; i < VAULT_SPARE_GIVEN; i++) {
        if (blocks[i] == block) {
            return 1;
        }
    }
    return 0;
}

static void what_one_gives_the_next_gets(void)
{
    apr_memnode_t *blocks[VAULT_SPARE_GIVEN];
    apr_allocator_t *giver, *taker = make_allocator();
    unsigned i;

    take_all();
    giver = make_with(VAULT_SPARE_GIVEN, blocks);
    give_and_end(giver); /* what is kept is not the giver's any more */
    CU_ASSERT(vault_spare_count() == VAULT_SPARE_GIVEN);
    CU_ASSERT(vault_spare_take(taker, 1) == 1);
    CU_ASSERT(vault_spare_take(taker, VAULT_SPARE_GIVEN) == VAULT_SPARE_GIVEN - 1);
    CU_ASSERT(vault_spare_take(taker, VAULT_SPARE_GIVEN) == 0);
    for (i = 0; i < VAULT_SPARE_GIVEN; i++) {
        apr_memnode_t *block = apr_allocator_alloc(taker, 1);
        CU_ASSERT(is_among(block, blocks));
        memset(block->first_avail, 0x55, (apr_size_t)(block->endp - block->first_avail));
        block->next = NULL;
        apr_allocator_free(taker, block);
    }
    apr_allocator_destroy(taker);
}

static void who_has_none_gives_as_many(void)
{
    take_all();
    give_and_end(make_with(0, NULL));
    CU_ASSERT(vault_spare_count() == VAULT_SPARE_GIVEN);
    take_all();
}

static void no_more_are_kept_than_said(void)
{
    unsigned i;

    take_all();
    for (i = 0; i < VAULT_SPARE_MOST; i++) {
        give_and_end(make_with(VAULT_SPARE_GIVEN + 1, NULL));
    }
    CU_ASSERT(vault_spare_count() == VAULT_SPARE_MOST);
    take_all();
}

/* The allocator keeps what it may after a gift for which there was no room. */
static void an_allocator_goes_on_keeping(void)
{
    apr_allocator_t *allocator;
    apr_memnode_t *block;
    unsigned i;

    take_all();
    for (i = 0; i < VAULT_SPARE_MOST / VAULT_SPARE_GIVEN; i++) {
        give_and_end(make_with(VAULT_SPARE_GIVEN, NULL));
    }
    allocator = make_with(VAULT_SPARE_GIVEN, NULL);
    CU_ASSERT(vault_spare_give(allocator, MAX_FREE) == VAULT_SPARE_GIVEN);
    CU_ASSERT(vault_spare_count() == VAULT_SPARE_MOST);
    block = apr_allocator_alloc(allocator, 1);
    block->next = NULL;
    block->first_avail[0] = 'k';
    apr_allocator_free(allocator, block);
    block = apr_allocator_alloc(allocator, 1);
    CU_ASSERT(block->first_avail[0] == 'k'); /* one that has been mapped anew holds zeros */
    block->next = NULL;
    apr_allocator_free(allocator, block);
    apr_allocator_destroy(allocator);
    take_all();
}

#define TURNS 20000

static void *APR_THREAD_FUNC give_and_take(apr_thread_t *thread, void *baton)
{
    apr_allocator_t *allocator = make_with(VAULT_SPARE_GIVEN, NULL);
    unsigned i;

    for (i = 0; i < TURNS; i++) {
        unsigned given = vault_spare_give(allocator, MAX_FREE);
        vault_spare_take(allocator, given);
    }
    apr_allocator_destroy(allocator);
    return NULL;
}

static void threads_give_and_take_at_once(void)
{
    apr_thread_t *threads[4];
    apr_status_t rv;
    apr_pool_t *pool;
    unsigned i;

    take_all();
    apr_pool_create(&pool, NULL);
    for (i = 0; i < 4; i++) {
        CU_ASSERT_FATAL(apr_thread_create(&threads[i], NULL, give_and_take, NULL, pool) == APR_SUCCESS);
    }
    for (i = 0; i < 4; i++) {
        apr_thread_join(&rv, threads[i]);
    }
    CU_ASSERT(vault_spare_count() <= 4 * VAULT_SPARE_GIVEN);
    apr_pool_destroy(pool);
    take_all();
}

void vault_spare_suite(void)
{
    CU_pSuite suite = CU_add_suite("spare", NULL, NULL);

    CU_ADD_TEST(suite, what_one_gives_the_next_gets);
    CU_ADD_TEST(suite, who_has_none_gives_as_many);
    CU_ADD_TEST(suite, no_more_are_kept_than_said);
    CU_ADD_TEST(suite, an_allocator_goes_on_keeping);
    CU_ADD_TEST(suite, threads_give_and_take_at_once);
}
