/* SPDX-License-Identifier: Apache-2.0 */
/* The ring of changes: what is appended is read, what is overwritten is not, and a tailer that ends anywhere leaves it
 * whole. */
#include <CUnit/CUnit.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"
#include "apr_thread_proc.h"

#include "database_scene.h"
#include "log/ring.h"
#include "unit.h"

void vault_database_ring_suite(void);

#define BYTES 4096

static log_ring_t *make_ring(void)
{
    return log_ring_of(calloc(1, log_ring_memory(BYTES)), BYTES);
}

static log_entry_t entry_of(apr_int64_t id, const char *new)
{
    return (log_entry_t){.change = {.id = id, .number = 2 * id},
                         .shape = 7,
                         .at = 100 + id,
                         .table = "logs",
                         .op = "I",
                         .key = "5",
                         .new = new};
}

static void append(log_ring_t *ring, apr_int64_t id, const char *new)
{
    const log_entry_t entry = entry_of(id, new);

    log_ring_append(ring, &entry);
}

static void publish(log_ring_t *ring, apr_uint64_t boot, const char *position)
{
    log_head_t head = {.boot = boot};

    apr_cpystrn(head.position, position, sizeof(head.position));
    log_ring_publish(ring, &head);
}

static const char *image(apr_int64_t id, int length)
{
    return apr_psprintf(suite_pool, "{\"id\":\"I%" APR_INT64_T_FMT "\",\"body\":\"T%0*d\"}", id, length, 0);
}

/* ------------------------------------------------------------ reading */

static void test_read(void)
{
    log_ring_t *ring = make_ring();
    log_entry_t entry;
    apr_uint64_t offset = 0;
    log_head_t head;

    log_ring_head(ring, &head);
    CU_ASSERT_EQUAL(head.boot, 0);
    CU_ASSERT_EQUAL(log_ring_oldest(ring), 0);
    append(ring, 3, image(3, 10));
    append(ring, 4, NULL);
    log_ring_head(ring, &head);
    CU_ASSERT_EQUAL(head.end, 0); /* not yet published */
    publish(ring, 9, "4");
    log_ring_head(ring, &head);
    CU_ASSERT_EQUAL(head.boot, 9);
    CU_ASSERT_STRING_EQUAL(head.position, "4");
    CU_ASSERT_EQUAL(log_ring_oldest(ring), 103);
    CU_ASSERT_TRUE_FATAL(log_ring_read(ring, &offset, &entry, suite_pool));
    CU_ASSERT_EQUAL(entry.change.id, 3);
    CU_ASSERT_EQUAL(entry.change.number, 6);
    CU_ASSERT_EQUAL(entry.shape, 7);
    CU_ASSERT_STRING_EQUAL(entry.table, "logs");
    CU_ASSERT_STRING_EQUAL(entry.op, "I");
    CU_ASSERT_STRING_EQUAL(entry.key, "5");
    CU_ASSERT_PTR_NULL(entry.old);
    CU_ASSERT_STRING_EQUAL(entry.new, image(3, 10));
    CU_ASSERT_TRUE_FATAL(log_ring_read(ring, &offset, &entry, suite_pool));
    CU_ASSERT_EQUAL(entry.change.id, 4);
    CU_ASSERT_PTR_NULL(entry.new);
    CU_ASSERT_EQUAL(offset, head.end);
    free(ring);
}

/* All that is whole is read, and what came before is told to be gone. */
static void test_overwritten(void)
{
    log_ring_t *ring = make_ring();
    apr_uint64_t offsets[400];
    int whole = 0;

    for (int i = 0; i < 400; i++) {
        log_head_t head;

        log_ring_head(ring, &head);
        offsets[i] = head.end;
        append(ring, i, image(i, i % 97));
        publish(ring, 1, "1");
    }
    for (int i = 0; i < 400; i++) {
        apr_uint64_t offset = offsets[i];
        log_entry_t entry;
        int is_there = log_ring_read(ring, &offset, &entry, suite_pool);

        CU_ASSERT_TRUE(is_there || whole == 0); /* from one on all are there */
        whole += is_there;
        if (is_there) {
            CU_ASSERT_EQUAL(entry.change.id, i);
            CU_ASSERT_STRING_EQUAL(entry.new, image(i, i % 97));
        }
    }
    CU_ASSERT_TRUE(whole > 10 && whole < 100);
    free(ring);
}

static void test_too_large(void)
{
    log_ring_t *ring = make_ring();
    log_entry_t entry;
    apr_uint64_t offset = 0;

    append(ring, 1, image(1, BYTES));
    publish(ring, 1, "1");
    CU_ASSERT_TRUE_FATAL(log_ring_read(ring, &offset, &entry, suite_pool));
    CU_ASSERT_EQUAL(entry.shape, 0);
    CU_ASSERT_EQUAL(entry.change.id, 1);
    CU_ASSERT_STRING_EQUAL(entry.table, "logs");
    CU_ASSERT_PTR_NULL(entry.new);
    free(ring);
}

/* ------------------------------------------------------------ taking over */

/* The tailer ends when it has appended so many, and published none of them. */
static void test_taken_over(void)
{
    for (int lost = 0; lost < 200; lost++) {
        log_ring_t *ring = make_ring();
        log_head_t before, head;
        log_entry_t entry;
        apr_uint64_t offset;

        append(ring, 1, image(1, 20));
        publish(ring, 1, "1");
        log_ring_head(ring, &before);
        for (int i = 0; i < lost; i++) {
            append(ring, 1000 + i, image(i, 30));
        }
        log_ring_take_over(ring);
        log_ring_head(ring, &head);
        CU_ASSERT_EQUAL(head.end, before.end);
        append(ring, 2, image(2, 20));
        publish(ring, 1, "2");
        log_ring_head(ring, &head);
        offset = before.end;
        if (log_ring_read(ring, &offset, &entry, suite_pool)) {
            CU_ASSERT_EQUAL(entry.change.id, 2);
            CU_ASSERT_EQUAL(offset, head.end);
        }
        else {
            CU_ASSERT_TRUE(lost > 20); /* what was appended went round the ring */
        }
        free(ring);
    }
}

/* ------------------------------------------------------------ many readers */

typedef struct reading_t {
    log_ring_t *ring;
    _Atomic int is_over;
    _Atomic int wrong;
    _Atomic int read;
} reading_t;

/* Each image says which change it is of. */
static void *APR_THREAD_FUNC read_all(apr_thread_t *thread, void *data)
{
    reading_t *scene = data;
    apr_uint64_t offset = 0;
    apr_pool_t *pool;

    apr_pool_create_unmanaged(&pool);
    while (!scene->is_over) {
        log_head_t head;

        log_ring_head(scene->ring, &head);
        scene->wrong += head.boot != 0 && strtoull(head.position, NULL, 10) != head.boot;
        while (offset < head.end) {
            log_entry_t entry;

            if (!log_ring_read(scene->ring, &offset, &entry, pool)) {
                offset = head.end;
                break;
            }
            scene->read++;
            scene->wrong +=
                strcmp(entry.new, apr_psprintf(pool, "{\"id\":\"I%" APR_INT64_T_FMT "\",\"body\":\"T%0*d\"}",
                                               entry.change.id, (int)(entry.change.id % 50), 0)) != 0;
        }
        apr_pool_clear(pool);
    }
    apr_pool_destroy(pool);
    return NULL;
}

static void test_readers(void)
{
    enum { READERS = 3, ENTRIES = 60000 };
    reading_t scene = {.ring = make_ring()};
    apr_thread_t *threads[READERS];
    apr_status_t ended;
    apr_pool_t *pool;

    apr_pool_create(&pool, suite_pool);
    for (int i = 0; i < READERS; i++) {
        CU_ASSERT_EQUAL_FATAL(apr_thread_create(&threads[i], NULL, read_all, &scene, pool), APR_SUCCESS);
    }
    for (int i = 1; i <= ENTRIES || (scene.read < 1000 && i < 100 * ENTRIES); i++) {
        apr_pool_t *one;

        apr_pool_create(&one, pool);
        append(scene.ring, i, apr_psprintf(one, "{\"id\":\"I%d\",\"body\":\"T%0*d\"}", i, i % 50, 0));
        if (i % 3 == 0) {
            publish(scene.ring, (apr_uint64_t)i, apr_psprintf(one, "%d", i));
        }
        apr_pool_destroy(one);
    }
    scene.is_over = 1;
    for (int i = 0; i < READERS; i++) {
        apr_thread_join(&ended, threads[i]);
    }
    CU_ASSERT_EQUAL(scene.wrong, 0);
    CU_ASSERT_TRUE(scene.read >= 1000);
    apr_pool_destroy(pool);
    free(scene.ring);
}

void vault_database_ring_suite(void)
{
    CU_pSuite suite = CU_add_suite("database_ring", scene_suite_start, scene_suite_stop);

    CU_add_test(suite, "what is published is read", test_read);
    CU_add_test(suite, "what is overwritten is gone", test_overwritten);
    CU_add_test(suite, "an entry that is too large", test_too_large);
    CU_add_test(suite, "the tailer ends, and another takes over", test_taken_over);
    CU_add_test(suite, "readers while it is written", test_readers);
}
