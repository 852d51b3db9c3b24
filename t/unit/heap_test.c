/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of blocks in shared memory: bounds, wrong places, fullness, and processes killed inside. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "shm/lock.h"
#include "unit.h"

#define HEAP_BYTES (4 * 1024 * 1024)
#define ALIVE 200 /* blocks that the random programs keep */
#define KILLS 60
#define KILLED_ALIVE 16

/* In the order of what a caller may ask for; the largest first class size of each kind of block is among them. */
static const apr_size_t sizes[] = {
    1, 16, 31, 32, 33, 100, 1000, 4096, 5000, 8192, 8193, 16384, 16385, 100000, VAULT_HEAP_BLOCK_MAX};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void blocks_hold_what_is_written(void)
{
    fixture_t f;
    vault_off_t blocks[SIZES];
    apr_uint64_t asked = 0;
    unsigned i;
    apr_size_t j;

    fixture_begin(&f, 1, 1, HEAP_BYTES);
    CU_ASSERT(vault_heap_size(f.heap) > HEAP_BYTES * 9 / 10 && vault_heap_size(f.heap) <= HEAP_BYTES);
    for (i = 0; i < SIZES; i++) {
        blocks[i] = vault_heap_alloc(f.heap, sizes[i]);
        CU_ASSERT_FATAL(blocks[i] != 0);
        CU_ASSERT_EQUAL((apr_uintptr_t)vault_heap_at(f.heap, blocks[i]) % 16, 0);
        memset(vault_heap_at(f.heap, blocks[i]), (int)i + 1, sizes[i]);
        asked += sizes[i];
    }
    CU_ASSERT(vault_heap_used(f.heap) >= asked);
    for (i = 0; i < SIZES; i++) {
        const char *block = vault_heap_at(f.heap, blocks[i]);

        for (j = 0; j < sizes[i] && block[j] == (char)(i + 1); j++) {
        }
        CU_ASSERT_EQUAL(j, sizes[i]);
    }
    CHECK_SOUND(vault_heap_check(f.heap));
    for (i = 0; i < SIZES; i++) {
        CU_ASSERT_EQUAL(vault_heap_free(f.heap, blocks[i]), 1);
    }
    CU_ASSERT_EQUAL(vault_heap_used(f.heap), 0);
    CHECK_SOUND(vault_heap_check(f.heap));
    fixture_end(&f);
}

static void wrong_sizes_are_refused(void)
{
    fixture_t f;

    fixture_begin(&f, 1, 1, HEAP_BYTES);
    CU_ASSERT_EQUAL(vault_heap_alloc(f.heap, 0), 0);
    CU_ASSERT_EQUAL(vault_heap_alloc(f.heap, VAULT_HEAP_BLOCK_MAX + 1), 0);
    CU_ASSERT_EQUAL(vault_heap_alloc(f.heap, APR_SIZE_MAX), 0);
    CU_ASSERT_EQUAL(vault_heap_used(f.heap), 0);
    fixture_end(&f);
}

static void a_heap_needs_room(void)
{
    fixture_t f;
    vault_heap_t *heap;

    fixture_begin(&f, 1, 1, 0);
    CU_ASSERT_EQUAL(vault_heap_create(&heap, f.segment, 1024, f.pool), APR_ENOSPC);
    CU_ASSERT_EQUAL(vault_heap_create(&heap, f.segment, HEAP_BYTES, f.pool), APR_ENOSPC);
    CU_ASSERT_EQUAL(vault_heap_create(&heap, f.segment, APR_UINT64_MAX, f.pool), APR_ENOSPC);
    CU_ASSERT_PTR_NULL(heap);
    fixture_end(&f);
}

static void wrong_places_are_harmless(void)
{
    fixture_t f;
    vault_off_t small, run, end;
    unsigned i;

    fixture_begin(&f, 1, 1, HEAP_BYTES);
    small = vault_heap_alloc(f.heap, 100);
    run = vault_heap_alloc(f.heap, 50000);
    end = small + vault_heap_size(f.heap); /* the first block is the beginning of all */
    {
        const struct {
            vault_off_t off;
            int inside;
            const char *why;
        } rows[] = {
            {0, 0, "no place"},
            {1, 0, "in the header of the segment"},
            {small - 16, 0, "before the first block"},
            {small + 8, 0, "not aligned"},
            {small + 16, 1, "inside a block"},
            {small + 112, 1, "a block that was never given out"},
            {small + 16384, 1, "a span that was never used"},
            {run + 16, 1, "inside a run"},
            {run + 16384, 1, "a span in the middle of a run"},
            {end - 16, 1, "in the last block"},
            {end, 0, "past the end"},
            {APR_UINT64_MAX, 0, "far out"},
            {APR_UINT64_MAX & ~(apr_uint64_t)15, 0, "far out and aligned"},
        };

        for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
            int inside = vault_heap_at(f.heap, rows[i].off) != NULL;

            CHECK_ROW(inside == rows[i].inside, rows[i].why);
            CHECK_ROW(!vault_heap_free(f.heap, rows[i].off), rows[i].why);
        }
    }
    CU_ASSERT_EQUAL(vault_heap_free(f.heap, small), 1);
    CU_ASSERT_EQUAL(vault_heap_free(f.heap, small), 0);
    CU_ASSERT_EQUAL(vault_heap_free(f.heap, run), 1);
    CU_ASSERT_EQUAL(vault_heap_free(f.heap, run), 0);
    CU_ASSERT_EQUAL(vault_heap_used(f.heap), 0);
    CHECK_SOUND(vault_heap_check(f.heap));
    fixture_end(&f);
}

/* Fill it with blocks of one size, empty it in an order that leaves holes, fill it with another size. */
static void one_size_does_not_starve_another(void)
{
    static const apr_size_t turns[] = {32, VAULT_HEAP_BLOCK_MAX, 1000, 20000, 8192, VAULT_HEAP_BLOCK_MAX};
    fixture_t f;
    vault_off_t *blocks;
    unsigned turn, count, i;

    fixture_begin(&f, 1, 1, HEAP_BYTES);
    blocks = apr_palloc(f.pool, HEAP_BYTES / 32 * sizeof(*blocks));
    for (turn = 0; turn < sizeof(turns) / sizeof(turns[0]); turn++) {
        for (count = 0; (blocks[count] = vault_heap_alloc(f.heap, turns[turn])) != 0; count++) {
        }
        CU_ASSERT(vault_heap_used(f.heap) <= vault_heap_size(f.heap));
        CU_ASSERT(vault_heap_size(f.heap) - vault_heap_used(f.heap) < VAULT_HEAP_BLOCK_MAX);
        CHECK_SOUND(vault_heap_check(f.heap));
        for (i = 0; i < count; i += 2) {
            CU_ASSERT(vault_heap_free(f.heap, blocks[i]));
        }
        CHECK_SOUND(vault_heap_check(f.heap));
        for (i = 1; i < count; i += 2) {
            CU_ASSERT(vault_heap_free(f.heap, blocks[i]));
        }
        CU_ASSERT_EQUAL(vault_heap_used(f.heap), 0);
    }
    CHECK_SOUND(vault_heap_check(f.heap));
    fixture_end(&f);
}

/* A block of random size, marked at both ends with its own place. */
typedef struct live_t {
    vault_off_t place;
    apr_size_t size;
} live_t;

static void live_alloc(fixture_t *f, live_t *live, unsigned *seed)
{
    live->size = sizeof(vault_off_t) * 2 + (unsigned)rand_r(seed) % (rand_r(seed) % 10 ? 1000 : 40000);
    live->place = vault_heap_alloc(f->heap, live->size);
    if (live->place) {
        char *block = vault_heap_at(f->heap, live->place);

        memcpy(block, &live->place, sizeof(live->place));
        memcpy(block + live->size - sizeof(live->place), &live->place, sizeof(live->place));
    }
}

static int live_free(fixture_t *f, live_t *live)
{
    char *block = vault_heap_at(f->heap, live->place);
    int sound = !memcmp(block, &live->place, sizeof(live->place)) &&
                !memcmp(block + live->size - sizeof(live->place), &live->place, sizeof(live->place));

    sound &= vault_heap_free(f->heap, live->place);
    live->place = 0;
    return sound;
}

static void random_programs_find_their_data(void)
{
    fixture_t f;
    live_t live[ALIVE] = {{0, 0}};
    unsigned seed = 4711, sound = 1, i;

    fixture_begin(&f, 1, 1, HEAP_BYTES / 4);
    for (i = 0; i < 50000; i++) {
        live_t *one = &live[(unsigned)rand_r(&seed) % ALIVE];

        if (one->place) {
            sound &= (unsigned)live_free(&f, one);
        }
        else {
            live_alloc(&f, one, &seed);
        }
        if (i % 1000 == 0) {
            CHECK_SOUND(vault_heap_check(f.heap));
        }
    }
    for (i = 0; i < ALIVE; i++) {
        sound &= !live[i].place || live_free(&f, &live[i]);
    }
    CU_ASSERT(sound);
    CU_ASSERT_EQUAL(vault_heap_used(f.heap), 0);
    CHECK_SOUND(vault_heap_check(f.heap));
    fixture_end(&f);
}

/* ------------------------------------------------------------------- deaths */

static void acquire_lock(void *baton)
{
    vault_lock_acquire(baton);
}

static void a_death_in_the_lock_stops_nobody(void)
{
    fixture_t f;
    vault_heap_t *heap;
    vault_lock_t *lock;
    vault_off_t block;

    fixture_begin(&f, 1, 1, HEAP_BYTES);
    /* The lock is the first thing in a heap, so the place where this one will begin is its place. */
    lock = vault_segment_at(f.segment, vault_segment_limits(f.segment)->size - vault_segment_left(f.segment),
                            sizeof(*lock));
    CU_ASSERT_FATAL(vault_heap_create(&heap, f.segment, 40000, f.pool) == APR_SUCCESS);
    block = vault_heap_alloc(heap, 100);
    CU_ASSERT(block != 0);
    fixture_kill(fixture_fork(acquire_lock, lock));
    CU_ASSERT_EQUAL(vault_heap_used(heap), 112);
    CU_ASSERT(vault_heap_alloc(heap, 100) != 0);
    CU_ASSERT_EQUAL(vault_heap_used(heap), 224);
    CU_ASSERT_EQUAL(vault_heap_free(heap, block), 1);
    CHECK_SOUND(vault_heap_check(heap));
    fixture_end(&f);
}

/* What a process that will be killed has: written after each alloc and before each free, so that at most one
 * block is in neither. */
typedef struct victim_t {
    fixture_t *f;
    unsigned seed;
    apr_uint32_t turns;               /* atomic */
    vault_off_t blocks[KILLED_ALIVE]; /* atomic, each */
} victim_t;

static void alloc_and_free_for_ever(void *baton)
{
    victim_t *v = baton;

    fixture_ready();
    for (;;) {
        vault_off_t *block = &v->blocks[(unsigned)rand_r(&v->seed) % KILLED_ALIVE];
        vault_off_t place = __atomic_exchange_n(block, 0, __ATOMIC_SEQ_CST);

        if (place) {
            vault_heap_free(v->f->heap, place);
        }
        else {
            place = vault_heap_alloc(v->f->heap, 1 + (unsigned)rand_r(&v->seed) % 20000);
            __atomic_store_n(block, place, __ATOMIC_SEQ_CST);
        }
        __atomic_add_fetch(&v->turns, 1, __ATOMIC_SEQ_CST);
    }
}

static void a_killed_process_leaks_one_block_at_most(void)
{
    fixture_t f;
    victim_t *v;
    unsigned kill, i;

    fixture_begin(&f, 1, 1, HEAP_BYTES);
    v = fixture_shared(&f, sizeof(*v));
    for (kill = 0; kill < KILLS; kill++) {
        apr_uint64_t before = vault_heap_used(f.heap);
        pid_t pid;

        memset(v, 0, sizeof(*v));
        v->f = &f;
        v->seed = kill;
        pid = fixture_fork(alloc_and_free_for_ever, v);
        while (__atomic_load_n(&v->turns, __ATOMIC_SEQ_CST) < 100 + kill * 7) {
            sched_yield();
        }
        fixture_kill(pid);
        for (i = 0; i < KILLED_ALIVE; i++) {
            CU_ASSERT(!v->blocks[i] || vault_heap_free(f.heap, v->blocks[i]));
        }
        CHECK_SOUND(vault_heap_check(f.heap));
        CU_ASSERT(vault_heap_used(f.heap) <= before + 32768);
    }
    CU_ASSERT(vault_heap_alloc(f.heap, 100) != 0);
    fixture_end(&f);
}

void vault_heap_suite(void)
{
    CU_pSuite suite = CU_add_suite("heap", NULL, NULL);

    CU_ADD_TEST(suite, blocks_hold_what_is_written);
    CU_ADD_TEST(suite, wrong_sizes_are_refused);
    CU_ADD_TEST(suite, a_heap_needs_room);
    CU_ADD_TEST(suite, wrong_places_are_harmless);
    CU_ADD_TEST(suite, one_size_does_not_starve_another);
    CU_ADD_TEST(suite, random_programs_find_their_data);
    CU_ADD_TEST(suite, a_death_in_the_lock_stops_nobody);
    CU_ADD_TEST(suite, a_killed_process_leaks_one_block_at_most);
}
