/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the mutex that survives its owner. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "fixture.h"
#include "shm/lock.h"
#include "unit.h"

#define ROUNDS 100000

typedef struct guarded_t {
    vault_lock_t lock;
    apr_uint64_t count; /* lock */
    int seen;           /* what an acquire in another process returned */
} guarded_t;

static guarded_t *guarded_make(fixture_t *f)
{
    guarded_t *g;

    fixture_begin(f, 1, 1, 0);
    g = fixture_shared(f, sizeof(*g));
    CU_ASSERT_FATAL(vault_lock_init(&g->lock) == APR_SUCCESS);
    return g;
}

static void *count_up(void *baton)
{
    guarded_t *g = baton;
    int i;

    for (i = 0; i < ROUNDS; i++) {
        CU_ASSERT(vault_lock_acquire(&g->lock) == 0);
        g->count++;
        vault_lock_release(&g->lock);
    }
    return NULL;
}

static void count_up_and_exit(void *baton)
{
    guarded_t *g = baton;
    int i;

    fixture_ready();
    for (i = 0; i < ROUNDS; i++) {
        if (vault_lock_acquire(&g->lock)) {
            _exit(1);
        }
        g->count++;
        vault_lock_release(&g->lock);
    }
    _exit(0);
}

static void one_at_a_time_among_threads(void)
{
    fixture_t f;
    guarded_t *g = guarded_make(&f);
    pthread_t other;

    CU_ASSERT_FATAL(pthread_create(&other, NULL, count_up, g) == 0);
    count_up(g);
    pthread_join(other, NULL);
    CU_ASSERT_EQUAL(g->count, 2 * ROUNDS);
    fixture_end(&f);
}

static void one_at_a_time_among_processes(void)
{
    fixture_t f;
    guarded_t *g = guarded_make(&f);
    pid_t pid = fixture_fork(count_up_and_exit, g);

    count_up(g);
    CU_ASSERT_EQUAL(fixture_wait(pid), 0);
    CU_ASSERT_EQUAL(g->count, 2 * ROUNDS);
    fixture_end(&f);
}

static void acquire_and_stay(void *baton)
{
    guarded_t *g = baton;

    g->seen = vault_lock_acquire(&g->lock);
}

static void a_dead_owner_is_reported_once(void)
{
    fixture_t f;
    guarded_t *g = guarded_make(&f);

    fixture_kill(fixture_fork(acquire_and_stay, g));
    CU_ASSERT_EQUAL(vault_lock_acquire(&g->lock), 1);
    vault_lock_release(&g->lock);
    CU_ASSERT_EQUAL(vault_lock_acquire(&g->lock), 0);
    vault_lock_release(&g->lock);
    fixture_end(&f);
}

/* The second one was told, and died before it had repaired: the third must be told too. */
static void a_death_in_the_repair_is_reported_again(void)
{
    fixture_t f;
    guarded_t *g = guarded_make(&f);

    fixture_kill(fixture_fork(acquire_and_stay, g));
    CU_ASSERT_EQUAL(g->seen, 0);
    fixture_kill(fixture_fork(acquire_and_stay, g));
    CU_ASSERT_EQUAL(g->seen, 1);
    CU_ASSERT_EQUAL(vault_lock_acquire(&g->lock), 1);
    vault_lock_release(&g->lock);
    fixture_end(&f);
}

static void *acquire_and_tell(void *baton)
{
    guarded_t *g = baton;

    g->seen = vault_lock_acquire(&g->lock);
    vault_lock_release(&g->lock);
    return NULL;
}

static void who_waits_when_the_owner_dies_gets_the_lock(void)
{
    fixture_t f;
    guarded_t *g = guarded_make(&f);
    pid_t pid = fixture_fork(acquire_and_stay, g);
    pthread_t waiter;

    CU_ASSERT_FATAL(pthread_create(&waiter, NULL, acquire_and_tell, g) == 0);
    fixture_kill(pid);
    pthread_join(waiter, NULL);
    CU_ASSERT_EQUAL(g->seen, 1);
    fixture_end(&f);
}

void vault_lock_suite(void)
{
    CU_pSuite suite = CU_add_suite("lock", NULL, NULL);

    CU_ADD_TEST(suite, one_at_a_time_among_threads);
    CU_ADD_TEST(suite, one_at_a_time_among_processes);
    CU_ADD_TEST(suite, a_dead_owner_is_reported_once);
    CU_ADD_TEST(suite, a_death_in_the_repair_is_reported_again);
    CU_ADD_TEST(suite, who_waits_when_the_owner_dies_gets_the_lock);
}
