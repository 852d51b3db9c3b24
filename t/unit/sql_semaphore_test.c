/* SPDX-License-Identifier: Apache-2.0 */
/* Which client gets the next permit of a semaphore that several clients share. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <CUnit/CUnit.h>

#include "sql/fair_semaphore.h"
#include "unit.h"

#define CALLS_MAX 8
#define ROUNDS 20000
#define THREADS 8

void vault_sql_semaphore_suite(void);

typedef struct scene_t {
    sql_semaphore_t *semaphore;
    pthread_mutex_t lock;
    char order[CALLS_MAX + 1]; /* lock: names of calls in the order of their grants */
    int count;                 /* lock */
} scene_t;

typedef struct call_t {
    scene_t *scene;
    char name;
    apr_uint64_t client;
    pthread_t thread;
} call_t;

static void *hold_permit(void *baton)
{
    call_t *call = baton;
    scene_t *s = call->scene;

    CU_ASSERT(sql_semaphore_acquire(s->semaphore, call->client, apr_time_from_sec(60)) == APR_SUCCESS);
    pthread_mutex_lock(&s->lock);
    s->order[s->count++] = call->name;
    pthread_mutex_unlock(&s->lock);
    sql_semaphore_release(s->semaphore, call->client);
    return NULL;
}

/* `held`: the clients that hold the permits. `calls`: the clients of the calls that come then, named a, b, c … Then the
 * first permit is released. */
static void play(const char *held, const char *calls, const char *expected, const char *why)
{
    scene_t s = {.lock = PTHREAD_MUTEX_INITIALIZER};
    call_t call[CALLS_MAX];
    apr_pool_t *pool;
    unsigned count = 0;

    apr_pool_create(&pool, NULL);
    CU_ASSERT_FATAL(sql_semaphore_create(&s.semaphore, (unsigned)strlen(held), pool) == APR_SUCCESS);
    for (const char *client = held; *client != '\0'; client++) {
        CU_ASSERT(sql_semaphore_acquire(s.semaphore, (apr_uint64_t)*client, 0) == APR_SUCCESS);
    }
    for (; calls[count] != '\0'; count++) {
        call[count] = (call_t){&s, (char)('a' + count), (apr_uint64_t)calls[count], 0};
        pthread_create(&call[count].thread, NULL, hold_permit, &call[count]);
        while (sql_semaphore_waiting(s.semaphore) <= count) {
            sched_yield();
        }
    }
    CU_ASSERT(sql_semaphore_acquire(s.semaphore, 'X', 1) == APR_TIMEUP);
    sql_semaphore_release(s.semaphore, (apr_uint64_t)held[0]);
    for (unsigned i = 0; i < count; i++) {
        pthread_join(call[i].thread, NULL);
    }
    CU_ASSERT_STRING_EQUAL(s.order, expected);
    if (strcmp(s.order, expected) != 0) {
        printf("\n    %s: %s, not %s\n", why, s.order, expected);
    }
    CU_ASSERT(sql_semaphore_waiting(s.semaphore) == 0);
    CU_ASSERT(sql_semaphore_acquire(s.semaphore, 'X', 0) == APR_SUCCESS);
    apr_pool_destroy(pool);
}

static void test_order(void)
{
    static const struct {
        const char *held, *calls, *expected, *why;
    } rows[] = {
        {"A", "AAA", "abc", "calls of one client come in their order"},
        {"A", "BCD", "abc", "calls of several clients as well"},
        {"A", "AAAB", "dabc", "a client that comes last is before the next calls of the one that was served last"},
        {"A", "AABBC", "ceadb", "clients take turns"},
        {"AAAA", "AAAB", "dabc", "a client that holds no permit is next"},
        {"AAAB", "AB", "ba", "then one that holds fewer permits than others"},
        {"AAB", "BAC", "cba", "then the one whose last grant is longest ago"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        play(rows[i].held, rows[i].calls, rows[i].expected, rows[i].why);
    }
}

typedef struct race_t {
    sql_semaphore_t *semaphore;
    _Atomic int inside;
    _Atomic int wrong;
    _Atomic int had;
} race_t;

static void *race_thread(void *baton)
{
    race_t *race = baton;
    const apr_uint64_t client = (apr_uint64_t)pthread_self() % 3;

    for (int i = 0; i < ROUNDS; i++) {
        if (sql_semaphore_acquire(race->semaphore, client, i % 16 == 0 ? 1 : apr_time_from_sec(60)) != APR_SUCCESS) {
            continue;
        }
        race->wrong += ++race->inside > 3;
        race->had++;
        race->inside--;
        sql_semaphore_release(race->semaphore, client);
    }
    return NULL;
}

static void test_race(void)
{
    race_t race = {0};
    pthread_t threads[THREADS];
    apr_pool_t *pool;

    apr_pool_create(&pool, NULL);
    CU_ASSERT_FATAL(sql_semaphore_create(&race.semaphore, 3, pool) == APR_SUCCESS);
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, race_thread, &race);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    CU_ASSERT(race.wrong == 0);
    CU_ASSERT(race.had >= THREADS * ROUNDS * 15 / 16);
    for (int i = 0; i < 3; i++) {
        CU_ASSERT(sql_semaphore_acquire(race.semaphore, 1, 0) == APR_SUCCESS);
    }
    CU_ASSERT(sql_semaphore_acquire(race.semaphore, 1, 0) == APR_TIMEUP);
    apr_pool_destroy(pool);
}

void vault_sql_semaphore_suite(void)
{
    CU_pSuite suite = CU_add_suite("sql_semaphore", NULL, NULL);

    CU_add_test(suite, "order", test_order);
    CU_add_test(suite, "race", test_race);
}
